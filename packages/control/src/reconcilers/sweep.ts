/**
 * The sweep: wakes every cluster and every due volume, whatever became of their own wake-ups. It covers lost jobs, crashed relays and
 * workers, and wakes volumes for which only time has passed.
 *
 * Its parts run beside each other: a walk over thousands of volumes must not delay clusters, which find dead nodes.
 */
import { LANES } from '@holdfast/core/policy/work-lane.js';
import type { ReconcilerPorts } from './reconciler-ports.js';
import { wakeDueVolumes } from './wake-volumes.js';

/** How often each part of the sweep runs. */
export const SWEEP_INTERVAL_MS = 5_000;

/** All parts, the most urgent first. */
export async function sweep(ports: ReconcilerPorts): Promise<{ clusters: number; volumes: number }> {
  const clusters = await wakeClusters(ports);
  let volumes = 0;
  for (const lane of LANES) volumes += await wakeDueVolumes(ports, lane);
  return { clusters, volumes };
}

export async function wakeClusters({
  store,
  queue,
}: Pick<ReconcilerPorts, 'store' | 'queue'>): Promise<number> {
  const clusterIds = await store.listClusters();
  for (const clusterId of clusterIds) await queue.wake({ kind: 'cluster', clusterId });
  return clusterIds.length;
}
