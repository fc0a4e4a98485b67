import type { ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { decideRemovalByUser } from '@holdfast/core/policy/decide-removal.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Asks for one copy to be dropped. The reconciler takes it out of the engine, deletes its files and builds another
 * where the volume then has too few.
 *
 * @throws StorageFault `replica.last_healthy_copy`, `replica.not_found`
 */
export function requestReplicaRemoval(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; replicaId: ReplicaId; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(ports.store, input.volumeId, input.ifVersion);
    const { volume } = view;
    if (!hasToAct(decideRemovalByUser(view, input.replicaId))) return;
    // The volume's version makes the decision hold: two removals can't each count the other's copy as the survivor.
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'replica.patch', replicaId: input.replicaId, patch: { intent: 'remove' } },
    ]);
  });
}
