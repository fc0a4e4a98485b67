/**
 * Part of the cluster's reconciler that deletes nodes which users have declared gone for good, once no volume refers to them. The
 * volumes' own reconcilers see to that (`plan-forgotten-node.ts`).
 */
import { isFault } from '@holdfast/core/model/faults.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { forgottenEvent } from '@holdfast/core/policy/node-events.js';
import type { ReconcilerPorts } from './reconciler-ports.js';

export async function reconcileForgotten(
  { store, clock }: ReconcilerPorts,
  clusterId: ClusterId,
): Promise<void> {
  const { nodes, disks } = await store.loadFleet(clusterId);
  for (const node of nodes) {
    if (node.forget === undefined) continue;
    // Spares a transaction in each run: a copy that is left has space booked.
    const isBooked = disks.some(
      ({ nodeId, storageScheduledBytes }) => nodeId === node.id && storageScheduledBytes > 0,
    );
    if (isBooked) continue;
    try {
      await store.commit({ kind: 'node', nodeId: node.id, ifVersion: node.version }, [
        { kind: 'node.delete', nodeId: node.id },
        { kind: 'event', event: forgottenEvent(node, clock.now()) },
      ]);
    } catch (error) {
      // A volume still refers to it, or it has changed: the next run looks again.
      if (!isFault(error, 'store.conflict')) throw error;
    }
  }
}
