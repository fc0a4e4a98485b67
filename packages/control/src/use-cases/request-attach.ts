import { StorageFault } from '@holdfast/core/model/faults.js';
import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { isRepairing, type VolumeState } from '@holdfast/core/model/volume.js';
import type { VolumePatch, VolumeView } from '../ports/store.js';
import {
  assertFilled,
  assertNotDeleting,
  loadVolume,
  retryConflicts,
  type UseCasePorts,
} from './use-case.js';

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
    assertNotDeleting(volume);
    assertFilled(volume);
    assertUsableNode(view, input.nodeId);
    if (isRepairing(volume)) return takeOver(ports, view, input.nodeId);
    if (volume.attachment !== undefined) {
      const holderId = volume.attachedNodeId ?? volume.attachment.nodeId;
      if (input.nodeId === undefined || input.nodeId === holderId) return;
      if (holderId !== undefined) throw attachedElsewhere(view, holderId);
    }
    const patch: VolumePatch = {
      attachment: { nodeId: input.nodeId, requestedAt: ports.clock.now() },
      state: stateOnAttach(volume.state),
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
    ]);
  });
}

/**
 * The worker holds it only to rebuild it: where that is a node that will do, its engine goes on as the user's, with the
 * rebuild; else it is let go first, and a holder that does not answer is not waited for.
 */
function takeOver(
  ports: UseCasePorts,
  { volume, fleet }: VolumeView,
  nodeId: NodeId | undefined,
): Promise<void> {
  const { attachedNodeId: heldOn } = volume;
  const holder = fleet.nodes.find(({ id }) => id === heldOn);
  const isHolderReady = holder !== undefined && isNodeReady(holder);
  const mayStay = heldOn === undefined || (isHolderReady && (nodeId === undefined || nodeId === heldOn));
  const attachment = { nodeId, requestedAt: ports.clock.now() };
  const patch: VolumePatch = mayStay
    ? { attachment }
    : {
        attachment,
        state: 'detaching',
        endpoint: undefined,
        attention: undefined,
        detachForced: !isHolderReady,
      };
  return ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
    { kind: 'volume.patch', volumeId: volume.id, patch },
  ]);
}

/** A detached volume shows at once that it attaches; one that is still being made or let go finishes that first. */
function stateOnAttach(state: VolumeState): VolumeState {
  return state === 'detached' ? 'attaching' : state;
}

function assertUsableNode({ fleet }: VolumeView, nodeId: NodeId | undefined): void {
  if (nodeId === undefined) return;
  const node = fleet.nodes.find(({ id }) => id === nodeId);
  if (node === undefined) {
    throw new StorageFault('node.not_found', { publicMessage: `the cluster has no node ${nodeId}` });
  }
  if (isNodeReady(node)) return;
  throw new StorageFault('node.not_ready', {
    publicMessage: `node ${node.name} is not ready`,
    cures: [`start the agent on ${node.name}`, 'attach on another node'],
  });
}

function attachedElsewhere({ volume, fleet }: VolumeView, holderId: NodeId): StorageFault {
  const holder = fleet.nodes.find(({ id }) => id === holderId);
  const name = holder?.name ?? holderId;
  const isAlive = holder !== undefined && isNodeReady(holder);
  return new StorageFault('volume.attached_elsewhere', {
    publicMessage: `volume ${volume.name} is attached on node ${name}, which is ${isAlive ? 'alive' : 'not answering'}`,
    cures: isAlive
      ? [`detach the volume from ${name} first`]
      : [
          `detach with force, then attach: every acknowledged and flushed write is kept`,
          `start the agent on ${name}`,
        ],
    context: { volumeId: volume.id, holderNodeId: holderId, holderIsAlive: isAlive },
  });
}
