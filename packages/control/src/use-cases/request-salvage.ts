import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { afterStartChange, surveyOf } from '@holdfast/core/model/volume-lifecycle.js';
import { decideSalvage } from '@holdfast/core/policy/decide-salvage.js';
import { assertNotDeleting, faultOf, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

export type SalvageInput = {
  volumeId: VolumeId;
  /** Empty: all copies that may be named. */
  replicaIds: readonly ReplicaId[];
  ifVersion?: number | undefined;
};

/**
 * Requests that the volume go on with the named copies although too few of the last members answer. The worker surveys the copies
 * again before it does so.
 *
 * @throws StorageFault `volume.not_faulted`, `volume.record_higher` for copies known to be behind, `volume.copies_missing` for ones
 * that do not answer, `replica.not_found`
 */
export function requestSalvage(ports: UseCasePorts, input: SalvageInput): Promise<void> {
  return retryConflicts(async () => {
    const { volume, replicas } = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    assertNotDeleting(volume);
    const ids = replicas.map(({ id }) => id);
    const decision = decideSalvage({ ...volume, survey: surveyOf(volume) }, ids, input.replicaIds);
    if (decision.kind === 'refuse') throw faultOf(decision);
    const salvage = { replicaIds: decision.replicaIds, requestedAt: ports.clock.now() };
    const patch = { lifecycle: afterStartChange(volume.lifecycle, { salvage }) };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch },
    ]);
  });
}
