import { StorageFault } from '@holdfast/core/model/faults.js';
import type { RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import { NOT_WAITING } from '@holdfast/core/model/rebuild.js';
import { decideCancellation } from '@holdfast/core/policy/decide-rebuild.js';
import { hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Stops a rebuild that waits or runs. The volume stays degraded; the reconciler tries again after a pause.
 *
 * @throws StorageFault `rebuild.not_found`, `rebuild.finished`
 */
export function cancelRebuild(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; rebuildId: RebuildId },
): Promise<void> {
  return retryConflicts(async () => {
    const { volume, rebuilds } = await loadVolume(ports.store, input.volumeId, undefined);
    const rebuild = rebuilds.find(({ id }) => id === input.rebuildId);
    if (rebuild === undefined) {
      throw new StorageFault('rebuild.not_found', {
        publicMessage: `there is no rebuild ${input.rebuildId}`,
      });
    }
    if (!hasToAct(decideCancellation(rebuild))) return;
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      {
        kind: 'rebuild.patch',
        rebuildId: rebuild.id,
        // It may finish or be admitted in between: then the commit loses and the next attempt sees that.
        ifState: rebuild.state,
        patch: { ...NOT_WAITING, state: 'cancelled', finishedAt: ports.clock.now(), rateBytesPerSecond: 0 },
      },
    ]);
  });
}
