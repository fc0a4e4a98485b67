import type { StorageNode } from '@holdfast/core/model/node.js';
import {
  decideDrain,
  decideDrainCancellation,
  drainPolicyOf,
  needsOtherNode,
  nodeForCopies,
} from '@holdfast/core/policy/decide-drain.js';
import type { NodePatch } from '../ports/store.js';
import { changeNode, type NodeKey } from './change-node.js';
import { faultOf, hasToAct, type UseCasePorts } from './use-case.js';

/**
 * Drains a node: it is cordoned, its replicas are moved according to the policy, and its status shows when it may be switched off,
 * and its obstacles. Draining a drained node with another policy changes the policy.
 *
 * @param policy `undefined`: that of the cluster's setting
 * @throws StorageFault `node.not_found`, `request.stale`, `request.invalid`, `node.last_ready`
 */
export function drainNode(
  ports: UseCasePorts,
  { policy: wanted, ...key }: NodeKey & { policy?: string | undefined },
): Promise<void> {
  return changeNode(ports, key, (node, now, fleet) => {
    const decision = decideDrain(node, wanted, fleet);
    if (decision.kind === 'refuse' && decision.code === 'request.invalid')
      throw faultOf(decision, [{ pointer: '/policy', detail: decision.why }]);
    const policy = drainPolicyOf(wanted, fleet);
    if (!hasToAct(decision) || policy === undefined) return undefined;
    const wasCordoned = node.drain?.wasCordoned ?? node.cordoned;
    return {
      patch: { cordoned: true, drain: { policy, requestedAt: now, wasCordoned }, drainStatus: undefined },
      countsOn: needsOtherNode(policy) ? nodeForCopies(node.id, policy, fleet) : undefined,
    };
  });
}

/**
 * Ends a drain, whether it is over or not. Replicas that are still on the node stay there. A node that was cordoned before
 * stays so.
 *
 * @throws StorageFault `node.not_found`, `request.stale`
 */
export function cancelDrain(ports: UseCasePorts, key: NodeKey): Promise<void> {
  return changeNode(ports, key, (node) =>
    hasToAct(decideDrainCancellation(node))
      ? { patch: { cordoned: node.drain?.wasCordoned === true, ...withoutDrain(node) } }
      : undefined,
  );
}

/** A node that takes new replicas again is not drained. */
export function withoutDrain({ drain }: Pick<StorageNode, 'drain'>): NodePatch {
  return drain === undefined ? {} : { drain: undefined, drainStatus: undefined };
}
