import { isNodeReady, type StorageDisk, type StorageNode } from '../model/node.js';
import type { FleetView } from '../model/views.js';
import { hasOtherReadyNode } from './decide-drain.js';
import { ALLOWED, type Decision, refuse } from './decision.js';

/** What is wrong with the request, said of the field. */
export const EVICTION_NEEDS =
  'needs allowScheduling to be false, else new replicas would come while the old ones leave';

/**
 * May a node or a disk be wanted so? It is not emptied while new replicas may come.
 *
 * @param what names it: `disk disk-1`
 */
export function decideEviction(
  what: string,
  wanted: { readonly evictionRequested: boolean; readonly allowScheduling: boolean },
): Decision<'request.invalid'> {
  if (!wanted.evictionRequested || !wanted.allowScheduling) return ALLOWED;
  return refuse('request.invalid', `evictionRequested on ${what} ${EVICTION_NEEDS}`, [
    'set allowScheduling to false in the same request',
  ]);
}

/** Replicas on the only node have nowhere to go. Where others exist and can take none now, the volumes say what they wait for. */
export function decideNodeEviction(
  { id, name }: Pick<StorageNode, 'id' | 'name'>,
  fleet: FleetView,
): Decision<'node.last_ready'> {
  const isBooked = fleet.disks.some((disk) => disk.nodeId === id && disk.storageScheduledBytes > 0);
  if (!isBooked || hasOtherReadyNode(id, fleet)) return ALLOWED;
  return refuse('node.last_ready', `no other node is ready: replicas on node ${name} have nowhere to go`, [
    'start the agents of other nodes, or add a node',
  ]);
}

/** As `decideNodeEviction`, of a disk: another one of its type has to be ready. */
export function decideDiskEviction(
  disk: StorageDisk,
  { nodes, disks }: FleetView,
): Decision<'disk.last_ready'> {
  const ready = new Set(nodes.filter(isNodeReady).map(({ id }) => id));
  const hasOther = disks.some(
    (other) =>
      other.id !== disk.id && other.type === disk.type && ready.has(other.nodeId) && isNodeReady(other),
  );
  if (disk.storageScheduledBytes === 0 || hasOther) return ALLOWED;
  return refuse(
    'disk.last_ready',
    `no other disk is ready: replicas on disk ${disk.name} have nowhere to go`,
    ['add a disk, or start the agents of other nodes'],
  );
}
