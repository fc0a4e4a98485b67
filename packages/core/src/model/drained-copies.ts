/** Which replicas a drain moves, and which other copies outlive its node. */
import type { NodeId } from './ids.js';
import { isNodeReady, type StorageNode } from './node.js';
import { isHealthy, type Replica } from './replica.js';

/** Copies of one volume, and the nodes that they are on. */
export type CopiesOnNodes = {
  readonly replicas: readonly Replica[];
  nodeOf(id: NodeId | undefined): DrainableNode | undefined;
};
type DrainableNode = Pick<StorageNode, 'cordoned' | 'drain' | 'maintenance' | 'conditions'>;

/** Is the replica to be replaced elsewhere because its node is drained? */
export function isDrainedAway(replica: Replica, copies: CopiesOnNodes): boolean {
  const drain = copies.nodeOf(replica.nodeId)?.drain;
  if (drain?.policy === 'block-for-eviction') return true;
  return (
    drain?.policy === 'block-for-eviction-if-contains-last-replica' &&
    // One that was never full would only make the node hold more.
    (!holdsData(replica) || protectedPeer(replica, copies) === undefined)
  );
}

/** Has it ever been a full copy? One that was not is no loss. */
export function holdsData({ healthyAt, lastHealthyAt }: Replica): boolean {
  return healthyAt !== undefined || lastHealthyAt !== undefined;
}

/**
 * A full copy of the same volume that outlives the node of this one: on another ready node that is not on its way out.
 * A node in maintenance is: it may be switched off any moment.
 */
export function protectedPeer(
  replica: Pick<Replica, 'nodeId'>,
  { replicas, nodeOf }: CopiesOnNodes,
): Replica | undefined {
  return replicas.find((other) => {
    if (other.nodeId === replica.nodeId || !isHealthy(other) || other.intent === 'remove') return false;
    const node = nodeOf(other.nodeId);
    return node !== undefined && isNodeReady(node) && !isOnItsWayOut(node);
  });
}

function isOnItsWayOut({ cordoned, drain, maintenance }: DrainableNode): boolean {
  return cordoned || drain !== undefined || maintenance !== undefined;
}
