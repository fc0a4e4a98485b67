import { StorageFault } from '@holdfast/core/model/faults.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isRepairing } from '@holdfast/core/model/volume.js';
import {
  assertFilled,
  assertNotDeleting,
  loadVolume,
  retryConflicts,
  type UseCasePorts,
} from './use-case.js';

/**
 * Asks whether all copies are equal. Only while detached: the copies of a volume in use change under the reader.
 * Asking while one runs changes nothing.
 *
 * @throws StorageFault `volume.attached`
 */
export function requestVerify(ports: UseCasePorts, input: { volumeId: VolumeId }): Promise<void> {
  return retryConflicts(async () => {
    const { volume } = await loadVolume(ports.store, input.volumeId, undefined);
    assertNotDeleting(volume);
    assertFilled(volume);
    if (isRepairing(volume)) {
      throw new StorageFault('volume.busy', {
        publicMessage: `missing copies of volume ${volume.name} are being rebuilt`,
        cures: ['wait until that has ended'],
      });
    }
    if (volume.attachment !== undefined || volume.attachedNodeId !== undefined) {
      throw new StorageFault('volume.attached', {
        publicMessage: `volume ${volume.name} is attached; its copies can be compared only while it is detached`,
        cures: ['detach it first'],
      });
    }
    if (volume.verification?.state === 'running') return;
    const verification = {
      requestedAt: ports.clock.now(),
      state: 'running' as const,
      finishedAt: undefined,
      equal: undefined,
      replicas: [],
      message: '',
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch: { verification } },
    ]);
  });
}
