import { rebuildEvent } from '@holdfast/core/model/event.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import { REBUILD_BANDWIDTH_MIN, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { decideTuning } from '@holdfast/core/policy/decide-rebuild.js';
import type { Change, RebuildPatch } from '../ports/store.js';
import { hasToAct, loadRebuild, retryConflicts, type UseCasePorts } from './use-case.js';

export type TuneRebuildInput = {
  volumeId: VolumeId;
  rebuildId: RebuildId;
  ifVersion?: number | undefined;
  paused?: boolean | undefined;
  /** Null: no limit of its own. Left out: as before. */
  bandwidthBytesPerSecond?: number | null | undefined;
};

/**
 * Pauses, resumes or limits a rebuild; the engine of a running one is informed. User writes reach the target all the while.
 *
 * @throws StorageFault `rebuild.not_found`, `rebuild.finished`, `request.invalid`
 */
export function tuneRebuild(ports: UseCasePorts, input: TuneRebuildInput): Promise<void> {
  const patch = patchOf(input);
  return retryConflicts(async () => {
    const { volume, rebuild } = await loadRebuild(ports.store, input);
    if (!hasToAct(decideTuning(rebuild))) return;
    await ports.store.commit({ kind: 'volume', volumeId: volume.id, ifVersion: volume.version }, [
      { kind: 'rebuild.patch', rebuildId: rebuild.id, ifState: rebuild.state, patch },
      ...pauseNews(volume.name, rebuild, patch, ports.clock.now()),
    ]);
  });
}

function pauseNews(name: string, rebuild: Rebuild, { paused }: RebuildPatch, now: Date): Change[] {
  if (paused === undefined || paused === rebuild.paused) return [];
  const news = paused
    ? ({ type: 'RebuildPaused', message: `the rebuild of volume ${name} was paused` } as const)
    : ({ type: 'RebuildResumed', message: `the rebuild of volume ${name} may go on` } as const);
  return [{ kind: 'event', event: rebuildEvent(rebuild, news, now) }];
}

function patchOf({ paused, bandwidthBytesPerSecond: bandwidth }: TuneRebuildInput): RebuildPatch {
  if (
    typeof bandwidth === 'number' &&
    !(Number.isSafeInteger(bandwidth) && bandwidth >= REBUILD_BANDWIDTH_MIN)
  ) {
    const detail = `must be a whole number of bytes, at least ${REBUILD_BANDWIDTH_MIN}`;
    throw new StorageFault('request.invalid', {
      publicMessage: `bandwidthBytesPerSecond ${detail}`,
      errors: [{ pointer: '/bandwidthBytesPerSecond', detail }],
    });
  }
  return {
    ...(paused === undefined ? {} : { paused }),
    ...(bandwidth === undefined ? {} : { bandwidthBytesPerSecond: bandwidth ?? undefined }),
  };
}
