import { withCondition } from '@holdfast/core/model/condition.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import { nodeSchedulableCondition } from '@holdfast/core/policy/node-conditions.js';
import { nodeChangeEvents } from '@holdfast/core/policy/node-events.js';
import type { Change, FleetView, NodePatch } from '../ports/store.js';
import { assertVersion, changedPart, retryConflicts, type UseCasePorts } from './use-case.js';

export type NodeKey = { clusterId: ClusterId; nodeId: NodeId; ifVersion?: number | undefined };

export type NodeChange = {
  readonly patch: NodePatch;
  /** The node that has to stay for this one to be emptied. */
  readonly countsOn?: StorageNode | undefined;
};

/**
 * Commits a user's change of a node, together with the resulting condition and events.
 *
 * @param decide from the node as it is; `undefined`: nothing to change. Runs again when the node, or the one it counts on, changes
 * meanwhile
 * @throws StorageFault `node.not_found`, `request.stale`, and what `decide` throws
 */
export function changeNode(
  { store, clock }: UseCasePorts,
  { clusterId, nodeId, ifVersion }: NodeKey,
  decide: (node: StorageNode, now: Date, fleet: FleetView) => NodeChange | undefined,
): Promise<void> {
  return retryConflicts(async () => {
    const fleet = await store.loadFleet(clusterId);
    const node = fleet.nodes.find(({ id }) => id === nodeId);
    if (node === undefined) {
      throw new StorageFault('node.not_found', { publicMessage: `the cluster has no node ${nodeId}` });
    }
    assertVersion(node.version, ifVersion);
    const now = clock.now();
    const decided = decide(node, now, fleet);
    if (decided === undefined) return;

    const { patch: wanted, countsOn } = decided;
    const after = { ...node, ...wanted };
    const schedulable = nodeSchedulableCondition(after, fleet.settings);
    const conditions = withCondition(node.conditions, schedulable, now);
    // Unchanged fields, conditions included, concern no volume, so they are no part of the change.
    const patch = changedPart(node, { ...wanted, conditions });
    if (Object.keys(patch).length === 0) return;
    const told = nodeChangeEvents(node, after, now).map((event): Change => ({ kind: 'event', event }));
    await store.commit({ kind: 'node', nodeId, ifVersion: node.version, countsOn }, [
      { kind: 'node.patch', nodeId, patch },
      ...told,
    ]);
  });
}
