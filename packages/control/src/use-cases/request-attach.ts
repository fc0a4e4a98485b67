import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { mayServeUsers } from '@holdfast/core/model/strict-locality.js';
import { afterRequest, grantOf, isRepairing } from '@holdfast/core/model/volume-lifecycle.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideAttach } from '@holdfast/core/policy/decide-attach.js';
import type { VolumePatch, VolumeView } from '../ports/store.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

export type AttachInput = {
  volumeId: VolumeId;
  /** Undefined: any node that holds a copy. */
  nodeId?: NodeId | undefined;
  ifVersion?: number | undefined;
};

/**
 * Asks for the volume to be served on a node. Accepted in any state but deletion; asking again for the same node
 * changes nothing.
 *
 * Two that race for different nodes both commit under the volume's version: one wins, the other reads the winner's
 * request on its retry and is refused.
 *
 * @throws StorageFault `volume.attached_elsewhere` that names the holder, `node.not_found`, `node.not_ready`
 */
export function requestAttach(ports: UseCasePorts, input: AttachInput): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    if (!hasToAct(decideAttach(actionFacts(view), input.nodeId))) return;
    if (isRepairing(volume)) return takeOver(ports, view, input.nodeId);
    const request = { nodeId: input.nodeId, requestedAt: ports.clock.now() };
    const patch: VolumePatch = { lifecycle: afterRequest(volume.lifecycle, request) };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
    ]);
  });
}

/**
 * The worker holds it only to rebuild it: on a suitable node its engine becomes the user's, with the rebuild; otherwise it is
 * detached first, and a holder that does not answer is not waited for.
 */
function takeOver(ports: UseCasePorts, view: VolumeView, nodeId: NodeId | undefined): Promise<void> {
  const { volume, fleet } = view;
  const grant = grantOf(volume);
  const holder = fleet.nodes.find(({ id }) => id === grant?.nodeId);
  const isHolderReady = holder !== undefined && isNodeReady(holder);
  const isLocal = grant !== undefined && mayServeUsers(view, grant.nodeId);
  const mayStay = isHolderReady && isLocal && (nodeId === undefined || nodeId === grant.nodeId);
  const request = { nodeId, requestedAt: ports.clock.now() };
  const patch: VolumePatch =
    grant === undefined || mayStay
      ? { lifecycle: afterRequest(volume.lifecycle, request) }
      : { lifecycle: { state: 'detaching', grant, isForced: !isHolderReady, request }, attention: undefined };
  return ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
  ]);
}
