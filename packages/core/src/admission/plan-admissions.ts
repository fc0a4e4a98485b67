/**
 * Admission: which waiting rebuilds and background tasks of a cluster may begin, and how fast rebuilds may copy.
 *
 * Pure. Limits are strict because one commit at a time per cluster applies a decision (the queue's version guards it):
 * what runs is what the database says runs, whatever became of the worker that started it. A rebuild that was cancelled
 * or given up keeps its place until its engine has stopped it.
 */
import { compareIds, type RebuildId } from '../model/ids.js';
import type { Rebuild } from '../model/rebuild.js';
import type { AdmissionView } from '../model/views.js';
import { AdmissionLoad, admitInLine, type Demand, type QueuedWork } from './admission-queue.js';
import { shareBandwidth } from './share-bandwidth.js';
import { joiningTasks, type TaskAdmission, taskDemands, taskLine } from './task-line.js';
import { blockText, PAUSED, type Waiting } from './waiting.js';

export type Admissions = {
  readonly rebuilds: readonly RebuildId[];
  /** What rebuilds may copy from now on, where it is something else than before. */
  readonly grants: readonly { readonly rebuildId: RebuildId; readonly bytesPerSecond: number | undefined }[];
  /** Rebuilds that go on waiting, in the order of the queue. */
  readonly waiting: readonly (Waiting & { readonly rebuildId: RebuildId })[];
  readonly tasks: readonly TaskAdmission[];
};

/**
 * How long the call that starts a rebuild may be on its way to the engine; clients of agents give up then. A report that
 * is no later than this after the end of a rebuild and does not mention it proves nothing: the call may arrive after it.
 */
export const START_CALL_MS_MAX = 20_000;

export function planAdmissions(view: AdmissionView, now: Date): Admissions {
  const load = new AdmissionLoad(view.settings, view.nodes);
  for (const rebuild of [...view.running, ...view.ending]) load.add(rebuildDemands(rebuild));
  for (const volume of view.tasks.admitted) load.add(taskDemands(volume));

  const rebuilds = admitInLine(rebuildLine(view), load);
  const admitted = view.queued.filter(({ id }) => rebuilds.admitted.includes(id));
  // A volume is rebuilt or has its layers moved, never both.
  const rebuilding = new Set(admitted.map(({ volumeId }) => volumeId));
  const tasks = admitInLine(taskLine(view.tasks, view.settings, rebuilding, now), load);
  return {
    rebuilds: rebuilds.admitted,
    grants: grantsOf([...view.running, ...admitted], view),
    waiting: rebuilds.waiting.map(({ key, why }) => ({ rebuildId: key, ...why })),
    tasks: [...joiningTasks(view.tasks), ...tasks.admitted.flat()],
  };
}

/**
 * The volume that is nearest to losing data goes first: fewest full copies, then the oldest, then the smallest. A copy that
 * only replaces another one waits behind all that are missing.
 */
export function compareQueued(a: Rebuild, b: Rebuild): number {
  return (
    Number(a.relocates) - Number(b.relocates) ||
    a.healthyCopies - b.healthyCopies ||
    a.queuedAt.getTime() - b.queuedAt.getTime() ||
    a.sizeBytes - b.sizeBytes ||
    compareIds(a.id, b.id)
  );
}

function rebuildLine({ queued, blocked }: AdmissionView): QueuedWork<RebuildId>[] {
  return [...queued].sort(compareQueued).map((rebuild) => {
    const task = blocked.find(({ volumeId }) => volumeId === rebuild.volumeId);
    const held = task === undefined ? undefined : blockText(task.reason);
    return {
      key: rebuild.id,
      demands: rebuildDemands(rebuild),
      obstacle: rebuild.paused ? PAUSED : held,
      keepsItsPlace: false,
    };
  });
}

function rebuildDemands({ targetNodeId, sourceNodeIds }: Rebuild): Demand[] {
  return [
    { limit: 'cluster', nodeId: undefined },
    { limit: 'target', nodeId: targetNodeId },
    ...sourceNodeIds.map((nodeId): Demand => ({ limit: 'source', nodeId })),
  ];
}

function grantsOf(running: readonly Rebuild[], { settings }: AdmissionView): Admissions['grants'] {
  const shares = shareBandwidth(running, settings);
  return running
    .filter(({ id, grantedBytesPerSecond }) => shares.get(id) !== grantedBytesPerSecond)
    .map(({ id }) => ({ rebuildId: id, bytesPerSecond: shares.get(id) }));
}
