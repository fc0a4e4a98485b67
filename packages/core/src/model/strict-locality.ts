/**
 * Strict data locality: a volume with one copy, whose users' engine runs on the node of that copy. The worker's own attachment serves
 * no user, so it may move the copy; a user's attach calls off a move that has begun.
 */
import type { NodeId } from './ids.js';
import { isHealthy, type Replica } from './replica.js';
import type { VolumeView } from './views.js';
import { holderOf, isRepairing, requestOf } from './volume-lifecycle.js';

type CopiesView = Pick<VolumeView, 'volume' | 'replicas'>;

/** Inputs of the rule about a copy; the console takes them from the API's answers. */
type ServingFacts<Id> = {
  readonly nodeId: Id | undefined;
  readonly intent: Replica['intent'];
  readonly isFull: boolean;
};

/**
 * Nodes that may serve the users of a strictly local volume. Only a full copy's node will do: a replacement that is being built, or a
 * failed copy, is no place for the engine. One pending removal will do as long as no other is full. If no copy is full, a salvage may
 * go on with any of them. Empty: no copy has a place yet.
 */
export function nodesForUsers<Id extends string>(copies: readonly ServingFacts<Id>[]): Id[] {
  const staying = copies.filter(({ intent }) => intent !== 'remove');
  const full = copies.filter(({ isFull }) => isFull);
  const fullStaying = staying.filter(({ isFull }) => isFull);
  return ([fullStaying, full].find(({ length }) => length > 0) ?? staying).flatMap(({ nodeId }) =>
    nodeId === undefined ? [] : [nodeId],
  );
}

/** `undefined`: any node may serve them. */
export function servingNodeIds({ volume, replicas }: CopiesView): NodeId[] | undefined {
  if (volume.spec.dataLocality !== 'strict-local') return undefined;
  return nodesForUsers(replicas.map((replica) => ({ ...replica, isFull: isHealthy(replica) })));
}

export function mayServeUsers(view: CopiesView, nodeId: NodeId): boolean {
  const serving = servingNodeIds(view);
  return serving === undefined || serving.length === 0 || serving.includes(nodeId);
}

/** True for a copy on another node than the one that serves users, if that node has the full copy that they use. */
export function isAwayFromUsers({ nodeId }: Replica, { volume, replicas }: CopiesView): boolean {
  if (volume.spec.dataLocality !== 'strict-local' || isRepairing(volume)) return false;
  const servedOn = holderOf(volume) ?? requestOf(volume)?.nodeId;
  if (servedOn === undefined || nodeId === undefined || nodeId === servedOn) return false;
  return replicas.some((other) => other.nodeId === servedOn && isHealthy(other) && other.intent !== 'remove');
}
