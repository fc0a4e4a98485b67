import { type DrainPlan, planDrain } from '@holdfast/core/drain/plan-drain.js';
import { SPEEDS_MAX } from '@holdfast/core/forecast/pace.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { DrainPolicy } from '@holdfast/core/model/node-drain.js';
import type { RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type { NodeVolumes } from '@holdfast/core/model/views.js';
import { decideDrain, drainPolicyOf, unknownPolicy } from '@holdfast/core/policy/decide-drain.js';
import type { NodeKey } from './change-node.js';
import { faultOf, type UseCasePorts } from './use-case.js';

/** Everything that the plan of a drain is worked out from. */
export type DrainPlanFacts = {
  readonly node: StorageNode;
  readonly policy: DrainPolicy;
  readonly view: NodeVolumes & { readonly speeds: readonly RebuildSpeed[] };
};

type Ask = NodeKey & { policy?: string | undefined };

/**
 * @param policy `undefined`: the drain's own where the node is drained, else the cluster's setting says which
 * @throws StorageFault `node.not_found`, `request.invalid`, `node.last_ready` where the drain would be refused so
 */
export async function loadDrainPlan(
  { store }: Pick<UseCasePorts, 'store'>,
  { clusterId, nodeId, policy: wanted }: Ask,
): Promise<DrainPlanFacts> {
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
  const decision = decideDrain(node, policy, view.fleet);
  if (decision.kind === 'refuse') throw faultOf(decision);
  const speeds = await store.loadRebuildSpeeds(clusterId, SPEEDS_MAX);
  return { node, policy, view: { ...view, speeds } };
}

/**
 * Effects of a drain of the node, and what it would wait for. Changes nothing.
 *
 * @throws StorageFault `node.not_found`, `request.invalid`, `node.last_ready`
 */
export async function planNodeDrain(ports: UseCasePorts, ask: Ask): Promise<DrainPlan> {
  const { node, policy, view } = await loadDrainPlan(ports, ask);
  return planDrain(node, policy, view, ports.clock.now());
}
