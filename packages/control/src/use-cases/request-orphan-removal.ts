import { StorageFault } from '@holdfast/core/model/faults.js';
import type { OrphanId } from '@holdfast/core/model/ids.js';
import { decideOrphanRemoval } from '@holdfast/core/policy/decide-orphan-removal.js';
import { hasToAct, retryConflicts, type UseCasePorts } from './use-case.js';

/**
 * Requests the removal of an orphan from its disk. Repeating it changes nothing.
 *
 * @throws StorageFault `orphan.not_found`, `disk.not_ready` while its node or its disk does not answer
 */
export function requestOrphanRemoval(
  ports: UseCasePorts,
  { orphanId }: { orphanId: OrphanId },
): Promise<void> {
  return retryConflicts(async () => {
    const found = await ports.store.loadOrphan(orphanId);
    if (found?.orphan.announcedAt === undefined) throw orphanNotFound(orphanId);
    const { orphan, isReachable, nodeName, diskName } = found;
    const isRemovalRequested = orphan.removal?.by === 'person';
    if (!hasToAct(decideOrphanRemoval({ isRemovalRequested, isReachable, nodeName, diskName }))) return;
    // A claim by the setting stays: its agent may be at work on it.
    const removal = {
      by: 'person' as const,
      requestedAt: ports.clock.now(),
      claimedAt: orphan.removal?.claimedAt,
      trouble: undefined,
    };
    await ports.store.commit({ kind: 'orphan', orphanId, ifVersion: orphan.version }, [
      { kind: 'orphan.patch', orphanId, patch: { removal } },
    ]);
  });
}

export function orphanNotFound(orphanId: OrphanId): StorageFault {
  return new StorageFault('orphan.not_found', { publicMessage: `there is no orphan ${orphanId}` });
}
