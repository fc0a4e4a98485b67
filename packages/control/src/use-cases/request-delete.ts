import type { VolumeId } from '@holdfast/core/model/ids.js';
import { afterDeletion } from '@holdfast/core/model/volume-lifecycle.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideDeletion } from '@holdfast/core/policy/decide-deletion.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

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
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    if (!hasToAct(decideDeletion(actionFacts(view)))) return;
    const { volume } = view;
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'volume.patch',
        volumeId: volume.id,
        patch: {
          lifecycle: afterDeletion(volume.lifecycle, ports.clock.now()),
          task: undefined,
        },
      },
    ]);
  });
}
