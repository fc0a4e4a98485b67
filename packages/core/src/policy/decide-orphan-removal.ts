import { ALLOWED, type Decision, refuse, unchanged } from './decision.js';

/** What the decision about a copy that belongs to no replica reads of it. */
export type OrphanFacts = {
  /** A user has asked for its removal. */
  readonly isRemovalRequested: boolean;
  /** Its node and its disk are ready. */
  readonly isReachable: boolean;
  readonly nodeName: string;
  readonly diskName: string;
};

/** May the copy be removed from its disk? Only the agent of its node can do it. */
export function decideOrphanRemoval(facts: OrphanFacts): Decision<'disk.not_ready'> {
  const { isRemovalRequested, isReachable, nodeName, diskName } = facts;
  if (isRemovalRequested) return unchanged('the copy is being removed');
  if (isReachable) return ALLOWED;
  return refuse('disk.not_ready', `disk ${diskName} on node ${nodeName} is not ready`, [
    `start the agent on ${nodeName}`,
    'put the disk back',
  ]);
}
