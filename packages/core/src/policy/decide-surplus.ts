import { compareIds } from '../model/ids.js';
import { zoneKey } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { isAwayFromUsers } from '../model/strict-locality.js';
import type { VolumeView } from '../model/views.js';
import { diskById, isEvicting, isOnReadyNode, nodeById, unneededCopies } from '../model/volume-facts.js';
import { holderOf } from '../model/volume-lifecycle.js';

type CopiesView = Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>;

export type SurplusVictim = { replica: Replica; why: string };

/**
 * Which copy goes when a volume has more than it wants; the API names it before a count is lowered.
 *
 * In this order: one that is still on its way and not needed any more, one that the users of a strictly local volume can't
 * use, one that is to be replaced anyway, one whose node is down, one whose node is drained, the one that shares a disk with
 * most others, then a node, then a zone, the one on the disk with the least space available, the smallest id. The copy on
 * the engine's own node goes last of equals, because reads are local there.
 */
export function decideSurplus(
  view: CopiesView,
  wanted = view.volume.spec.numberOfReplicas,
): SurplusVictim | undefined {
  const [unneeded] = surplusOrder(view, unneededCopies(view, wanted));
  if (unneeded !== undefined) return { replica: unneeded, why: 'it is not a full copy yet, and not needed' };
  const copies = view.replicas.filter((replica) => isHealthy(replica) && replica.intent !== 'remove');
  const staying = copies.filter((replica) => !isEvicting(replica, view.fleet, view.replicas));
  if (copies.length <= wanted) return undefined;

  // Fewer than wanted stay, so only a leaving copy may go. It does not wait for the other leaving ones to be replaced as well:
  // two drains that share one free place would wait for each other.
  const isShort = staying.length < wanted;
  const [victim] = surplusOrder(view, isShort ? copies.filter((copy) => !staying.includes(copy)) : copies);
  if (victim === undefined) return undefined;
  const isReplaced = isEvicting(victim, view.fleet, view.replicas) && !isAwayFromUsers(victim, view);
  const why = isReplaced
    ? 'it has been replaced elsewhere'
    : `the volume has ${copies.length} copies and wants ${wanted}`;
  return { replica: victim, why };
}

/** All that go, one after the other, as each removal leaves the volume; the last full copy is none of them. */
export function surplusVictims(view: CopiesView): SurplusVictim[] {
  const victim = decideSurplus(view);
  if (victim === undefined || view.replicas.length < 2) return [];
  const replicas = view.replicas.filter(({ id }) => id !== victim.replica.id);
  return [victim, ...surplusVictims({ ...view, replicas })];
}

/** The order in which copies go, by the rule above. */
export function surplusOrder(view: CopiesView, copies: readonly Replica[]): Replica[] {
  return copies
    .map((replica) => ({ replica, rank: rankOf(replica, copies, view) }))
    .sort((a, b) => compareRanks(a.rank, b.rank) || compareIds(a.replica.id, b.replica.id))
    .map(({ replica }) => replica);
}

/** Smaller goes first. */
function rankOf(replica: Replica, copies: readonly Replica[], view: CopiesView): number[] {
  const { fleet, volume } = view;
  const zoneOf = ({ nodeId }: Replica) => {
    const node = nodeById(fleet, nodeId);
    return node === undefined ? undefined : zoneKey(node);
  };
  const sharing = (isSame: (other: Replica) => boolean) => -copies.filter(isSame).length;
  return [
    isAwayFromUsers(replica, view) ? 0 : 1,
    isEvicting(replica, fleet, view.replicas) ? 0 : 1,
    isOnReadyNode(replica, fleet) ? 1 : 0,
    nodeById(fleet, replica.nodeId)?.drain === undefined ? 1 : 0,
    sharing(({ diskId }) => diskId === replica.diskId),
    sharing(({ nodeId }) => nodeId === replica.nodeId),
    sharing((other) => zoneOf(other) === zoneOf(replica)),
    replica.nodeId === holderOf(volume) ? 1 : 0,
    diskById(fleet, replica.diskId)?.storageAvailableBytes ?? 0,
  ];
}

function compareRanks(a: readonly number[], b: readonly number[]): number {
  const index = a.findIndex((value, at) => value !== b[at]);
  return index === -1 ? 0 : (a[index] ?? 0) - (b[index] ?? 0);
}
