import { type DrainPlan, planDrain } from '@holdfast/core/drain/plan-drain.js';
import { SPEEDS_MAX } from '@holdfast/core/forecast/pace.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { drainPolicyOf, unknownPolicy } from '@holdfast/core/policy/decide-drain.js';
import type { NodeKey } from './change-node.js';
import { faultOf, type UseCasePorts } from './use-case.js';

/**
 * What a drain of the node would do, and wait for. Changes nothing.
 *
 * @param policy `undefined`: the drain's own where the node is drained, else the cluster's setting says which
 * @throws StorageFault `node.not_found`, `request.invalid`
 */
export async function planNodeDrain(
  { store, clock }: UseCasePorts,
  { clusterId, nodeId, policy: wanted }: NodeKey & { policy?: string | undefined },
): Promise<DrainPlan> {
  const view = await store.loadNodeVolumes(clusterId, nodeId);
  const node = view.fleet.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) {
    throw new StorageFault('node.not_found', { publicMessage: `the cluster has no node ${nodeId}` });
  }
  const policy = drainPolicyOf(wanted ?? node.drain?.policy, view.fleet);
  if (policy === undefined) {
    const refusal = unknownPolicy(wanted);
    throw faultOf(refusal, [{ pointer: '/policy', detail: refusal.why }]);
  }
  const speeds = await store.loadRebuildSpeeds(clusterId, SPEEDS_MAX);
  return planDrain(node, policy, { ...view, speeds }, clock.now());
}
