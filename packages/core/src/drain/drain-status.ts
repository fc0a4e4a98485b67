/**
 * Status of a drain: may the node be switched off, and what does that wait for? Worked out anew from its volumes each time, so
 * that a node whose volumes lose their other copies is not `drained` any more.
 */

import { fleetLookup } from '../lifecycle/node-volumes.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import type {
  DrainProgress,
  DrainState,
  DrainWait,
  NodeDrain,
  NodeDrainStatus,
} from '../model/node-drain.js';
import type { NodeVolumes } from '../model/views.js';
import { beginLook, bytesOf, isUnderWay, movedReplicas, waitsOf } from './drain-waits.js';

/** Waits that a status lists: a user reads them, and they travel with each read of the node. */
const WAITS_MAX = 20;

export type DrainingNode = StorageNode & { readonly drain: NodeDrain };

export function isDraining(node: StorageNode): node is DrainingNode {
  return node.drain !== undefined;
}

export function drainStatus(node: DrainingNode, view: NodeVolumes, now: Date): NodeDrainStatus {
  const before = node.drainStatus;
  // It has been switched off, as allowed: its former replicas are not needed until it is back.
  if (before?.state === 'drained' && !isNodeReady(node)) return before;

  const look = beginLook(node, node.drain.policy, fleetLookup(view.fleet), now);
  const waits = view.volumes.flatMap((volume) => waitsOf(volume, look));
  const moved = view.volumes.flatMap((volume) => movedReplicas(volume, look));
  const bytes = moved.reduce((sum, replica) => sum + bytesOf(replica), 0);
  const state = stateOf(waits);
  return {
    state,
    since: before?.state === state ? before.since : now,
    progress: progressOf(before?.progress, { replicas: moved.length, bytes }),
    waitingCount: waits.length,
    waitingFor: [...waits.filter((wait) => !isUnderWay(wait)), ...waits.filter(isUnderWay)].slice(
      0,
      WAITS_MAX,
    ),
  };
}

function stateOf(waits: readonly DrainWait[]): DrainState {
  if (waits.length === 0) return 'drained';
  return waits.some(isUnderWay) ? 'draining' : 'blocked';
}

/** Replicas that have left were moved; those to move since are added. */
function progressOf(
  before: DrainProgress | undefined,
  left: { replicas: number; bytes: number },
): DrainProgress {
  if (before === undefined) {
    return { replicasToMove: left.replicas, replicasMoved: 0, bytesToMove: left.bytes, bytesMoved: 0 };
  }
  const replicasMoved = Math.max(before.replicasMoved, before.replicasToMove - left.replicas);
  const bytesMoved = Math.max(before.bytesMoved, before.bytesToMove - left.bytes);
  return {
    replicasToMove: replicasMoved + left.replicas,
    replicasMoved,
    bytesToMove: bytesMoved + left.bytes,
    bytesMoved,
  };
}

/** Each look at a drain asks this, and most find the status of before: so the short fields are compared first, and no text is made. */
export function isSameStatus(a: NodeDrainStatus | undefined, b: NodeDrainStatus | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return (
    a.state === b.state &&
    a.since.getTime() === b.since.getTime() &&
    a.waitingCount === b.waitingCount &&
    isSameProgress(a.progress, b.progress) &&
    a.waitingFor.length === b.waitingFor.length &&
    a.waitingFor.every((wait, index) => isSameWait(wait, b.waitingFor[index]))
  );
}

function isSameProgress(a: DrainProgress, b: DrainProgress): boolean {
  return (
    a.replicasToMove === b.replicasToMove &&
    a.replicasMoved === b.replicasMoved &&
    a.bytesToMove === b.bytesToMove &&
    a.bytesMoved === b.bytesMoved
  );
}

function isSameWait(a: DrainWait, b: DrainWait | undefined): boolean {
  return (
    a.volumeId === b?.volumeId &&
    a.volumeName === b.volumeName &&
    a.replicaId === b.replicaId &&
    a.reason === b.reason &&
    a.message === b.message &&
    a.cures.length === b.cures.length &&
    a.cures.every((cure, index) => cure === b.cures[index])
  );
}
