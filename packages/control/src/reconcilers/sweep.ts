/**
 * The sweep: wakes every cluster and every volume that is due, whatever became of its own wake-up. The net under lost
 * jobs, crashed relays and workers; and what wakes a volume when only time has passed.
 */
import type { ReconcilerPorts } from './reconciler-ports.js';
import { wakeDueVolumes } from './wake-volumes.js';

/** How often the sweep runs. */
export const SWEEP_INTERVAL_MS = 5_000;

export async function sweep(ports: ReconcilerPorts): Promise<{ clusters: number; volumes: number }> {
  const clusterIds = await ports.store.listClusters();
  for (const clusterId of clusterIds) await ports.queue.wake({ kind: 'cluster', clusterId });
  const volumes = await wakeDueVolumes(ports);
  return { clusters: clusterIds.length, volumes };
}
