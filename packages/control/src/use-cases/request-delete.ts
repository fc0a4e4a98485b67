import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isRepairing } from '@holdfast/core/model/volume.js';
import { loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Asks for the volume and all its copies to be deleted. Repeating it changes nothing.
 *
 * @throws StorageFault `volume.attached` while a user's attachment is wanted or held
 */
export function requestDelete(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { volume, clones } = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    if (volume.deletionRequestedAt !== undefined) return;
    if (clones.length > 0) {
      throw new StorageFault('volume.in_use', {
        publicMessage: `volume ${volume.name} is being cloned`,
        cures: ['wait until its clones are filled', 'delete the clones'],
      });
    }
    // While it is filled or rebuilt only the worker holds it, and its engine is stopped before its copies go.
    const isHeld = volume.fill === undefined && !isRepairing(volume);
    if (isHeld && (volume.attachment !== undefined || volume.attachedNodeId !== undefined)) {
      throw new StorageFault('volume.attached', {
        publicMessage: `volume ${volume.name} is attached`,
        cures: ['detach it first'],
      });
    }
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: {
          deletionRequestedAt: ports.clock.now(),
          state: 'deleting',
          fill: undefined,
          attachment: undefined,
          endpoint: undefined,
          detachForced: volume.attachedNodeId !== undefined,
        },
      },
    ]);
  });
}
