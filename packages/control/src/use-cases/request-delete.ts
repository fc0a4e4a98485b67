import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Asks for the volume and all its copies to be deleted. Repeating it changes nothing.
 *
 * @throws StorageFault `volume.attached` while somebody holds it or wants it
 */
export function requestDelete(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { volume } = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    if (volume.deletionRequestedAt !== undefined) return;
    if (volume.attachment !== undefined || volume.attachedNodeId !== undefined) {
      throw new StorageFault('volume.attached', {
        publicMessage: `volume ${volume.name} is attached`,
        cures: ['detach it first'],
      });
    }
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: { deletionRequestedAt: ports.clock.now(), state: 'deleting' },
      },
    ]);
  });
}
