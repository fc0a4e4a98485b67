import { isNodeReady, type StorageDisk, type StorageNode } from '../model/node.js';
import type { FleetView } from '../model/views.js';
import { isDiskThatStays, nodeForMoves, takesWhatMoves } from './decide-drain.js';
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

/**
 * Replicas of the only node that takes any have nowhere to go. Where others exist and have no room now, the volumes say what
 * they wait for.
 */
export function decideNodeEviction(
  { id, name }: Pick<StorageNode, 'id' | 'name'>,
  fleet: FleetView,
): Decision<'node.last_ready'> {
  const isBooked = fleet.disks.some((disk) => disk.nodeId === id && disk.storageScheduledBytes > 0);
  if (!isBooked || nodeForMoves(id, fleet) !== undefined) return ALLOWED;
  const why = `no other node is ready and takes replicas: those on node ${name} have nowhere to go`;
  return refuse('node.last_ready', why, [
    'start the agents of other nodes, or add a node',
    'uncordon one, or end its drain or eviction',
  ]);
}

/** As `decideNodeEviction`, of a disk: another one of its type has to be ready. */
export function decideDiskEviction(disk: StorageDisk, fleet: FleetView): Decision<'disk.last_ready'> {
  if (disk.storageScheduledBytes === 0 || nodeForDiskMoves(disk, fleet) !== undefined) return ALLOWED;
  const why = `no other disk is ready and takes replicas: those on disk ${disk.name} have nowhere to go`;
  return refuse('disk.last_ready', why, [
    'add a disk, or start the agents of other nodes',
    'end the eviction of another disk, or uncordon a node',
  ]);
}

/** The node of another ready disk that may take what leaves this one: its own, where that has one, or the first by id. */
export function nodeForDiskMoves(disk: StorageDisk, fleet: FleetView): StorageNode | undefined {
  const others = fleet.disks.filter(
    (other) =>
      other.id !== disk.id && other.type === disk.type && isNodeReady(other) && isDiskThatStays(other),
  );
  const holders = new Set(others.map(({ nodeId }) => nodeId));
  const places = fleet.nodes.filter((node) => holders.has(node.id) && takesWhatMoves(node, fleet));
  return places.find(({ id }) => id === disk.nodeId) ?? places[0];
}
