import type { VolumeId } from '@holdfast/core/model/ids.js';
import { decideForget } from '@holdfast/core/policy/decide-forget.js';
import { changeNode, type NodeKey } from './change-node.js';
import { hasToAct, type UseCasePorts } from './use-case.js';

/**
 * Declares a node gone for good. The commit revokes its certificate; the volumes' reconcilers give up its copies and build others,
 * and the cluster's reconciler deletes the node when no volume refers to it.
 *
 * @param acceptedLosses volumes whose data on this node only may be lost
 * @throws StorageFault `node.not_found`, `request.stale`, `node.in_use` while its agent runs, `node.holds_only_copy`
 */
export async function forgetNode(
  ports: UseCasePorts,
  { acceptedLosses, ...key }: NodeKey & { acceptedLosses: readonly VolumeId[] },
): Promise<void> {
  // Each volume's own reconciler judges its remaining copies again, under the volume's version.
  const { volumes } = await ports.store.loadNodeVolumes(key.clusterId, key.nodeId);
  return changeNode(ports, key, (node, now, fleet) => {
    if (!hasToAct(decideForget(node, { fleet, volumes }, acceptedLosses))) return undefined;
    const { requestedAt, acceptedLosses: known } = node.forget ?? { requestedAt: now, acceptedLosses: [] };
    const onNode = new Set(volumes.map(({ volume }) => volume.id));
    const accepted = [...new Set([...known, ...acceptedLosses])].filter((id) => onNode.has(id));
    return { patch: { forget: { requestedAt, acceptedLosses: accepted } } };
  });
}
