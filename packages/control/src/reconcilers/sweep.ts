/**
 * Periodic sweep: wakes everything that may need work. It makes up for lost jobs, crashed relays and
 * changes that wake no volume (a setting, a tag, time passing).
 */
import { nodesChangedSince } from './reconcile-cluster.js';
import type { ReconcilerPorts } from './reconciler-ports.js';
import { wakeVolumesOfNode, wakeVolumesToReconcile } from './wake-volumes.js';

/** How often the sweep runs. */
export const SWEEP_INTERVAL_MS = 5_000;
/** Three sweeps: a change is seen by at least one of them even when one fails. */
const NODE_CHANGE_WINDOW_MS = 3 * SWEEP_INTERVAL_MS;

export async function sweep(ports: ReconcilerPorts): Promise<{ clusters: number; volumes: number }> {
  const since = new Date(ports.clock.now().getTime() - NODE_CHANGE_WINDOW_MS);
  const clusterIds = await ports.store.listClusters();
  let volumes = 0;
  for (const clusterId of clusterIds) {
    await ports.queue.wake({ kind: 'cluster', clusterId });
    const fleet = await ports.store.loadFleet(clusterId);
    for (const nodeId of nodesChangedSince(fleet, since)) volumes += await wakeVolumesOfNode(ports, nodeId);
  }
  volumes += await wakeVolumesToReconcile(ports);
  return { clusters: clusterIds.length, volumes };
}
