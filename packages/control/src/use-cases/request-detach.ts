import type { VolumeId } from '@holdfast/core/model/ids.js';
import { afterRelease } from '@holdfast/core/model/volume-lifecycle.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideDetach } from '@holdfast/core/policy/decide-detach.js';
import type { VolumePatch } from '../ports/store.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

export type DetachInput = {
  volumeId: VolumeId;
  /** The holder may be dead: do not wait for its engine to stop. Copies fence it off at the next attach. */
  force?: boolean | undefined;
  ifVersion?: number | undefined;
};

/**
 * Requests the volume's detachment. A volume that is not attached is left as it is, so that a repeated detach succeeds.
 *
 * @throws StorageFault `volume.holder_unreachable` when the holder can't be asked to stop and `force` was not given
 */
export function requestDetach(ports: UseCasePorts, input: DetachInput): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    const force = input.force === true;
    if (!hasToAct(decideDetach(actionFacts(view), force))) return;

    const patch: VolumePatch = {
      lifecycle: afterRelease(volume.lifecycle, force),
      // Obstacles are judged anew: force may have removed them.
      attention: undefined,
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
    ]);
  });
}
