import { decideCordon, decideUncordon } from '@holdfast/core/policy/decide-cordon.js';
import { changeNode, type NodeKey } from './change-node.js';
import { withoutDrain } from './drain-node.js';
import { hasToAct, type UseCasePorts } from './use-case.js';

/**
 * Keeps new replicas off a node, while `disable-scheduling-on-cordoned-node` is set. Existing ones stay.
 *
 * @throws StorageFault `node.not_found`, `request.stale`
 */
export function cordonNode(ports: UseCasePorts, key: NodeKey): Promise<void> {
  return changeNode(ports, key, (node) =>
    hasToAct(decideCordon(node)) ? { patch: { cordoned: true } } : undefined,
  );
}

/**
 * Allows new replicas on a node again, which ends its drain.
 *
 * @throws StorageFault `node.not_found`, `request.stale`
 */
export function uncordonNode(ports: UseCasePorts, key: NodeKey): Promise<void> {
  return changeNode(ports, key, (node) =>
    hasToAct(decideUncordon(node)) ? { patch: { cordoned: false, ...withoutDrain(node) } } : undefined,
  );
}
