/** Invariant of background tasks: of those that begin, no node has more than the limit that is in force then. */
import type { VolumeId } from '../model/ids.js';
import type { TaskVolume } from '../model/views.js';

/**
 * @param running volumes with a task that runs, each with the nodes of its copies
 * @param begun those of them that began since the last look
 * @param limit for each node; 0 for none
 */
export function checkTaskLimits(
  running: readonly TaskVolume[],
  begun: ReadonlySet<VolumeId>,
  limit: number,
): string[] {
  if (limit === 0) return [];
  const counts = new Map<string, number>();
  for (const nodeId of running.flatMap(({ nodeIds }) => nodeIds))
    counts.set(nodeId, (counts.get(nodeId) ?? 0) + 1);
  return running
    .filter(
      ({ volumeId, nodeIds }) => begun.has(volumeId) && nodeIds.some((id) => (counts.get(id) ?? 0) > limit),
    )
    .map(({ volumeId }) => `a task of volume ${volumeId} began over the limit of ${limit} on a node`);
}
