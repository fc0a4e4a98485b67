import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { isRepairing } from '@holdfast/core/model/volume.js';
import type { VolumePatch, VolumeView } from '../ports/store.js';
import { assertFilled, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

export type DetachInput = {
  volumeId: VolumeId;
  /** The holder may be dead: do not wait for its engine to stop. Copies fence it off at the next attach. */
  force?: boolean | undefined;
  ifVersion?: number | undefined;
};

/**
 * Asks for the volume to be let go. A volume that is not attached is left as it is, so that a repeated detach succeeds.
 *
 * @throws StorageFault `volume.holder_unreachable` when the holder can't be asked to stop and `force` was not given
 */
export function requestDetach(ports: UseCasePorts, input: DetachInput): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    assertFilled(volume);
    const force = input.force === true;
    // The worker attached it for a rebuild, and detaches it afterwards.
    if (isRepairing(volume)) return;
    if (volume.attachment === undefined && volume.attachedNodeId === undefined) return;
    if (!force) assertHolderAnswers(view);

    const isHeld = volume.attachedNodeId !== undefined;
    const patch: VolumePatch = {
      attachment: undefined,
      detachForced: volume.detachForced || (force && isHeld),
      endpoint: undefined,
      // What stood in the way is judged anew: force may have cured it.
      attention: undefined,
      state: isHeld ? 'detaching' : volume.state === 'creating' ? 'creating' : 'detached',
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
    ]);
  });
}

function assertHolderAnswers({ volume, fleet }: VolumeView): void {
  const holder = fleet.nodes.find(({ id }) => id === volume.attachedNodeId);
  if (volume.attachedNodeId === undefined) return;
  if (holder !== undefined && isNodeReady(holder)) return;
  const name = holder?.name ?? volume.attachedNodeId;
  throw new StorageFault('volume.holder_unreachable', {
    publicMessage: `volume ${volume.name} is attached on node ${name}, which does not answer`,
    cures: ['detach with force, then attach on another node', `start the agent on ${name}`],
    context: { volumeId: volume.id, holderNodeId: volume.attachedNodeId },
  });
}
