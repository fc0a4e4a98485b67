import { withCondition } from '@holdfast/core/model/condition.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import { nodeSchedulableCondition } from '@holdfast/core/policy/node-conditions.js';
import { assertMayEvict, assertVersion, retryConflicts, type UseCasePorts } from './use-case.js';

/** `null` removes the label. */
export type NodeSpecPatch = {
  allowScheduling?: boolean | undefined;
  cordoned?: boolean | undefined;
  evictionRequested?: boolean | undefined;
  tags?: readonly string[] | undefined;
  zone?: string | null | undefined;
  region?: string | null | undefined;
};

/**
 * Changes what is wanted of a node.
 *
 * @throws StorageFault `node.not_found`, `request.invalid` when it is to be emptied while new replicas may come
 */
export function patchNode(
  ports: UseCasePorts,
  input: { clusterId: ClusterId; nodeId: NodeId; patch: NodeSpecPatch; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { nodes, settings } = await ports.store.loadFleet(input.clusterId);
    const node = nodes.find(({ id }) => id === input.nodeId);
    if (node === undefined) {
      throw new StorageFault('node.not_found', { publicMessage: `the cluster has no node ${input.nodeId}` });
    }
    assertVersion(node.version, input.ifVersion);
    const wanted = patchedNode(node, input.patch);
    assertMayEvict(node.name, wanted);

    const schedulable = nodeSchedulableCondition(wanted.cordoned, settings);
    const conditions = withCondition(node.conditions, schedulable, ports.clock.now());
    await ports.store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, [
      { kind: 'node.patch', nodeId: node.id, patch: { ...wanted, conditions } },
    ]);
  });
}

type NodeSpec = Pick<
  StorageNode,
  'allowScheduling' | 'cordoned' | 'evictionRequested' | 'tags' | 'zone' | 'region'
>;

function patchedNode(node: StorageNode, patch: NodeSpecPatch): NodeSpec {
  return {
    allowScheduling: patch.allowScheduling ?? node.allowScheduling,
    cordoned: patch.cordoned ?? node.cordoned,
    evictionRequested: patch.evictionRequested ?? node.evictionRequested,
    tags: patch.tags ?? node.tags,
    zone: patch.zone === undefined ? node.zone : (patch.zone ?? undefined),
    region: patch.region === undefined ? node.region : (patch.region ?? undefined),
  };
}
