import type { NodeMaintenance } from '@holdfast/core/model/node.js';
import { decideMaintenance, decideMaintenanceEnd } from '@holdfast/core/policy/decide-maintenance.js';
import { changeNode, type NodeKey } from './change-node.js';
import { faultOf, hasToAct, type UseCasePorts } from './use-case.js';

/**
 * Opens a node's maintenance window, or changes the open one: until its end no new copy is built for what only that
 * node lost. The cluster's reconciler ends it in time.
 *
 * @throws StorageFault `node.not_found`, `request.stale`, `request.invalid`
 */
export function startMaintenance(
  ports: UseCasePorts,
  { maintenance, ...key }: NodeKey & { maintenance: NodeMaintenance },
): Promise<void> {
  return changeNode(ports, key, (node, now) => {
    const decision = decideMaintenance(node, maintenance, now);
    if (decision.kind === 'refuse') throw faultOf(decision, [{ pointer: '/until', detail: decision.why }]);
    return hasToAct(decision) ? { patch: { maintenance } } : undefined;
  });
}

/**
 * Ends it before its time.
 *
 * @throws StorageFault `node.not_found`, `request.stale`
 */
export function endMaintenance(ports: UseCasePorts, key: NodeKey): Promise<void> {
  return changeNode(ports, key, (node) =>
    hasToAct(decideMaintenanceEnd(node)) ? { patch: { maintenance: undefined } } : undefined,
  );
}
