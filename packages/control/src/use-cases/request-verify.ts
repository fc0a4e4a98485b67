import type { VolumeId } from '@holdfast/core/model/ids.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decideVerification, decideVerificationEnd } from '@holdfast/core/policy/decide-verification.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Asks whether all copies are equal. Only while detached: the copies of a volume in use change under the reader.
 * Asking while one runs changes nothing.
 *
 * @throws StorageFault `volume.attached`
 */
export function requestVerify(ports: UseCasePorts, input: { volumeId: VolumeId }): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, undefined);
    const { volume } = view;
    const isNew = hasToAct(decideVerification(actionFacts(view)));
    // A user does not wait for a comparison at the schedule's rate.
    if (!isNew && volume.verification?.scheduled !== true) return;
    const verification = {
      requestedAt: ports.clock.now(),
      state: 'running' as const,
      finishedAt: undefined,
      equal: undefined,
      epoch: volume.epoch,
      replicas: [],
      message: '',
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch: { verification } },
    ]);
  });
}

/**
 * Ends a comparison of copies. Agents finish the copies that they are reading, and their results are discarded.
 *
 * @throws StorageFault `volume.not_found`
 */
export function cancelVerify(ports: UseCasePorts, input: { volumeId: VolumeId }): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, undefined);
    const { volume } = view;
    if (!hasToAct(decideVerificationEnd(actionFacts(view))) || volume.verification === undefined) return;
    const verification = {
      ...volume.verification,
      state: 'failed' as const,
      finishedAt: ports.clock.now(),
      message: 'a user ended it',
    };
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'volume.patch', volumeId: volume.id, patch: { verification } },
    ]);
  });
}
