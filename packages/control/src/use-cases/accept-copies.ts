import { decideChoice } from '@holdfast/core/lifecycle/decide-choice.js';
import { choiceFollowed } from '@holdfast/core/lifecycle/follow-verification.js';
import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { assertNotDeleting, faultOf, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

export type AcceptedCopies = {
  volumeId: VolumeId;
  replicaIds: readonly ReplicaId[];
  ifVersion?: number | undefined;
};

/**
 * Goes on with the named ones of a detached volume's copies that differ without a majority; the others are failed, and rebuilt by
 * the next attach. Committed under the version that was read: an attach that came in between wins.
 *
 * @throws StorageFault `volume.not_faulted` where no choice is open, `volume.attached`, `volume.not_verified`, `replica.not_found`,
 *   `replica.not_full` for copies that are behind or not alike
 */
export function acceptCopies(ports: UseCasePorts, input: AcceptedCopies): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    assertNotDeleting(volume);
    const decision = decideChoice(view, input.replicaIds);
    if (decision.kind === 'refuse') throw faultOf(decision);
    await ports.store.commit(
      { kind: 'volume', volumeId: volume.id, ifVersion: volume.version },
      choiceFollowed(view, input.replicaIds, ports.clock.now()),
    );
  });
}
