import { rebuildEvent } from '@holdfast/core/model/event.js';
import type { RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import { NOT_WAITING } from '@holdfast/core/model/rebuild.js';
import { decideCancellation } from '@holdfast/core/policy/decide-rebuild.js';
import { hasToAct, loadRebuild, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Stops a rebuild that waits or runs. The volume stays degraded; the reconciler tries again after a pause.
 *
 * @throws StorageFault `rebuild.not_found`, `rebuild.finished`, `request.stale`
 */
export function cancelRebuild(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; rebuildId: RebuildId; ifVersion?: number | undefined },
): Promise<void> {
  return retryConflicts(async () => {
    const { volume, rebuild } = await loadRebuild(ports.store, input);
    if (!hasToAct(decideCancellation(rebuild))) return;
    const now = ports.clock.now();
    const message = `the rebuild of volume ${volume.name} was cancelled`;
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'event', event: rebuildEvent(rebuild, { type: 'RebuildCancelled', message }, now) },
      {
        kind: 'rebuild.patch',
        rebuildId: rebuild.id,
        // It may finish or be admitted in between: then the commit loses and the next attempt sees that.
        ifState: rebuild.state,
        patch: { ...NOT_WAITING, state: 'cancelled', finishedAt: now, rateBytesPerSecond: 0 },
      },
    ]);
  });
}
