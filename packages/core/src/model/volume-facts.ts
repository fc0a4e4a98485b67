/** Predicates and look-ups on a volume's view that several planners share. */

import { conditionOf } from './condition.js';
import { isDrainedAway } from './drained-copies.js';
import type { ClusterEvent, EventSubject } from './event.js';
import { disksById, nodesById } from './fleet-lookup.js';
import type { DiskId, NodeId } from './ids.js';
import { isNodeEmptied, isNodeReady, type StorageDisk, type StorageNode } from './node.js';
import { isActiveRebuild, type Rebuild } from './rebuild.js';
import { isHealthy, type Replica } from './replica.js';
import { isAwayFromUsers } from './strict-locality.js';
import type { FleetView, VolumeView } from './views.js';
import { holderOf } from './volume-lifecycle.js';

export function nodeById(fleet: FleetView, nodeId: NodeId | undefined): StorageNode | undefined {
  return nodeId === undefined ? undefined : nodesById(fleet.nodes).get(nodeId);
}

export function diskById(fleet: FleetView, diskId: DiskId | undefined): StorageDisk | undefined {
  return diskId === undefined ? undefined : disksById(fleet.disks).get(diskId);
}

export function nodeName(fleet: FleetView, nodeId: NodeId | undefined): string {
  return nodeById(fleet, nodeId)?.name ?? nodeId ?? 'no node';
}

export function isOnReadyNode(replica: Replica, fleet: FleetView): boolean {
  const node = nodeById(fleet, replica.nodeId);
  return node !== undefined && isNodeReady(node);
}

/**
 * Is the replica to be replaced elsewhere: by its own intent, or because its disk or node is being emptied?
 *
 * @param replicas all of its volume's: a drain may leave alone what other nodes hold too
 */
export function isEvicting(replica: Replica, fleet: FleetView, replicas: readonly Replica[]): boolean {
  const node = nodeById(fleet, replica.nodeId);
  const disk = diskById(fleet, replica.diskId);
  const isPlaceEmptied =
    (node !== undefined && isNodeEmptied(node)) ||
    (node?.drain !== undefined && isDrainedAway(replica, { replicas, nodeOf: (id) => nodeById(fleet, id) }));
  return isLeavingPlace(replica, isPlaceEmptied, disk?.evictionRequested === true);
}

/** As `isEvicting`, for a caller that has found node and disk already. */
export function isLeavingPlace(replica: Replica, isNodeEvicting: boolean, isDiskEvicting: boolean): boolean {
  return replica.intent === 'evict' || isNodeEvicting || isDiskEvicting;
}

/**
 * Since when the place of a copy is gone: its node does not answer, or its disk is not ready. `undefined` for an existing place, or
 * an unknown one.
 */
export function placeLostSince({ nodeId, diskId }: Replica, fleet: FleetView): Date | undefined {
  const node = conditionOf(nodeById(fleet, nodeId)?.conditions ?? [], 'Ready');
  if (node !== undefined && node.status !== 'True') return node.lastTransitionAt;
  const disk = conditionOf(diskById(fleet, diskId)?.conditions ?? [], 'Ready');
  return disk?.status === 'False' ? disk.lastTransitionAt : undefined;
}

/** Is the copy where an attach would find it: on a node that answers, and on a disk that is not known to be missing? */
export function isReachable(replica: Replica, fleet: FleetView): boolean {
  return isOnReadyNode(replica, fleet) && placeLostSince(replica, fleet) === undefined;
}

export function activeRebuild({ rebuilds }: Pick<VolumeView, 'rebuilds'>): Rebuild | undefined {
  return rebuilds.find(isActiveRebuild);
}

/** Full copies that are to stay: what counts towards the wanted number. */
export function lastingCopies({ replicas, fleet }: Pick<VolumeView, 'replicas' | 'fleet'>): Replica[] {
  return replicas.filter(
    (replica) => isHealthy(replica) && replica.intent !== 'remove' && !isEvicting(replica, fleet, replicas),
  );
}

/** Placed, not failed and not yet a full copy: waits for its first or next rebuild. */
export function isAwaitingRebuild(replica: Replica): boolean {
  return (
    replica.diskId !== undefined &&
    replica.failedAt === undefined &&
    replica.healthyAt === undefined &&
    replica.intent === 'keep'
  );
}

/** Copies on their way: they are built or wait for it, at places where they may stay. */
export function comingCopies({ replicas, fleet }: Pick<VolumeView, 'replicas' | 'fleet'>): Replica[] {
  return replicas.filter((replica) => isAwaitingRebuild(replica) && !isEvicting(replica, fleet, replicas));
}

/**
 * Unfinished copies that are not needed any more, because fewer are wanted now or a leaving one stays: as many full ones last as are
 * wanted. A copy on a node that does not answer is not relied on, and one that replaces another ends with its relocation. With strict
 * locality, one on another node than the users' engine is of no use either.
 */
export function unneededCopies(
  view: Pick<VolumeView, 'volume' | 'replicas' | 'fleet'>,
  wanted = view.volume.spec.numberOfReplicas,
): Replica[] {
  // A volume's first copies need no rebuild: they are full as soon as they are made.
  if (view.volume.epoch === 0) return [];
  const coming = comingCopies(view).filter(({ relocation }) => relocation === undefined);
  if (coming.length === 0) return [];
  const lasting = lastingCopies(view).filter((replica) => isOnReadyNode(replica, view.fleet));
  return lasting.length >= wanted ? coming : coming.filter((replica) => isAwayFromUsers(replica, view));
}

/** Full copies that are to go once the volume has enough others. */
export function leavingCopies({ replicas, fleet }: Pick<VolumeView, 'replicas' | 'fleet'>): Replica[] {
  return replicas.filter(
    (replica) => isHealthy(replica) && (replica.intent === 'remove' || isEvicting(replica, fleet, replicas)),
  );
}

/**
 * Copies, full or failed, on places that are being emptied: each holds its place up until it is replaced elsewhere and its record
 * goes.
 */
export function misplacedCopies({ replicas, fleet }: Pick<VolumeView, 'replicas' | 'fleet'>): Replica[] {
  return replicas.filter((replica) => isFullOrFailed(replica) && isEvicting(replica, fleet, replicas));
}

/** A copy that is not on its way any more, and not about to be removed. */
export function isFullOrFailed({ diskId, intent, healthyAt, failedAt }: Replica): boolean {
  return diskId !== undefined && intent !== 'remove' && (healthyAt !== undefined || failedAt !== undefined);
}

/**
 * True if an engine can be asked for changes of the layers. Not while its node does not answer: every attempt would fail and be
 * recorded, and the node's return marks its volumes due.
 */
export function isServing({ volume, engine, fleet }: VolumeView): boolean {
  const holder = nodeById(fleet, holderOf(volume));
  return (
    volume.lifecycle.state === 'attached' &&
    engine?.report.state === 'running' &&
    engine.report.epoch === volume.epoch &&
    holder !== undefined &&
    isNodeReady(holder)
  );
}

export function volumeEvent(
  { volume }: VolumeView,
  now: Date,
  event: Pick<ClusterEvent, 'type' | 'message' | 'cause'> & { subject?: EventSubject },
): ClusterEvent {
  return {
    clusterId: volume.clusterId,
    type: event.type,
    subject: event.subject ?? { kind: 'volume', id: volume.id },
    volumeId: volume.id,
    message: event.message,
    at: now,
    ...(event.cause === undefined ? {} : { cause: event.cause }),
  };
}
