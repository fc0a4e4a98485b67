/**
 * Admission: which waiting rebuilds and background tasks of a cluster may begin, and how fast rebuilds may copy.
 *
 * Pure. Limits are strict because one commit at a time per cluster applies a decision (the queue's version guards it):
 * what runs is what the database says runs, whatever became of the worker that started it. A rebuild that was cancelled
 * or given up keeps its place until its engine has stopped it.
 */
import { compareIds, type RebuildId } from '../model/ids.js';
import { isPreempted, type Rebuild } from '../model/rebuild.js';
import type { AdmissionView } from '../model/views.js';
import { AdmissionLoad, admitInLine, type Demand, type QueuedWork } from './admission-queue.js';
import { choosePreempted, isOnLastCopy } from './preemption.js';
import { shareBandwidth } from './share-bandwidth.js';
import { type TaskAdmission, taskLine, taskNodes, tasksToAdmit } from './task-queue.js';
import { blockText, isLimit, PAUSED, PREEMPTED, type Waiting } from './waiting.js';

export type Admissions = {
  readonly rebuilds: readonly AdmittedRebuild[];
  /** Running rebuilds that have to stand still for one of a volume on its last copy. */
  readonly preempted: readonly RebuildId[];
  /** Changed rate limits of rebuilds. */
  readonly grants: readonly { readonly rebuildId: RebuildId; readonly bytesPerSecond: number | undefined }[];
  /** Rebuilds that go on waiting, in the order of the queue. */
  readonly waiting: readonly (Waiting & { readonly rebuildId: RebuildId })[];
  readonly tasks: readonly TaskAdmission[];
};

/** A rebuild that begins, or that continues after it was preempted. */
export type AdmittedRebuild = {
  readonly rebuildId: RebuildId;
  /** It purges before it copies. Where no background task may run on one of its nodes, it begins without. */
  readonly purgesFirst: boolean;
};

/**
 * How long the call that starts a rebuild may be on its way to the engine; clients of agents give up then. A report that
 * is no later than this after the end of a rebuild and does not mention it proves nothing: the call may arrive after it.
 */
export const START_CALL_MS_MAX = 20_000;

export function planAdmissions(view: AdmissionView, now: Date): Admissions {
  if (isNothingWanted(view)) return NOTHING;
  const load = new AdmissionLoad(view.settings, view.nodes);
  const counted = view.running.filter((rebuild) => !isPreempted(rebuild));
  for (const rebuild of [...counted, ...view.ending]) load.add(rebuildDemands(rebuild, view));
  for (const rebuild of counted.filter(isPurging)) load.add(purgeDemands(rebuild, view));
  for (const volume of view.tasks.admitted) load.add(taskNodes(volume));

  const line = keepingPlaces(rebuildLine(view), counted, view);
  const rebuilds = admitInLine(line, load);
  const admitted = line
    .map(({ key }) => key)
    .filter(({ id }) => rebuilds.admitted.some((one) => one.id === id));
  const purging = admitted.filter((rebuild) => admitPurge(rebuild, view, load));
  // A volume is rebuilt or has its layers moved, never both.
  const rebuilding = new Set(admitted.map(({ volumeId }) => volumeId));
  const tasks = admitInLine(taskLine(view.tasks, view.settings, rebuilding, now), load);
  return {
    rebuilds: admitted.map((rebuild) => ({ rebuildId: rebuild.id, purgesFirst: purging.includes(rebuild) })),
    preempted: preemptedFor(rebuilds.waiting, counted, admitted, view),
    grants: grantsOf([...counted, ...admitted.map(goingOn)], view),
    waiting: rebuilds.waiting.map(({ key, why }) => {
      return { rebuildId: key.id, ...(isPreempted(key) ? PREEMPTED : why) };
    }),
    tasks: [...tasksToAdmit(view.tasks), ...tasks.admitted.flat()],
  };
}

const NOTHING: Admissions = { rebuilds: [], preempted: [], grants: [], waiting: [], tasks: [] };

/** Nothing waits and nothing copies, so nothing can begin, be preempted or be granted another share. */
function isNothingWanted({ queued, running, tasks }: AdmissionView): boolean {
  return queued.length + running.length + tasks.waiting.length + tasks.candidates.length === 0;
}

function goingOn(rebuild: Rebuild): Rebuild {
  return { ...rebuild, preemptedAt: undefined };
}

/** Until it copies: the layers are moved before. */
function isPurging({ purgesFirst, phase }: Rebuild): boolean {
  return purgesFirst && (phase === 'waiting' || phase === 'preparing');
}

/** Where a purge is wanted and every node of the volume's copies may run one more task. Then it counts. */
function admitPurge(rebuild: Rebuild, view: AdmissionView, load: AdmissionLoad): boolean {
  const { settings, tasks } = view;
  const isWanted = settings['auto-cleanup-system-generated-snapshot'] && !settings['disable-snapshot-purge'];
  const isTask = tasks.admitted.some(({ volumeId }) => volumeId === rebuild.volumeId);
  const demands = purgeDemands(rebuild, view);
  if (rebuild.startedAt !== undefined || !isWanted || isTask) return false;
  if (load.obstacleFor(demands) !== undefined) return false;
  load.add(demands);
  return true;
}

function purgeDemands({ volumeId }: Rebuild, { rebuilt }: AdmissionView): Demand[] {
  const volume = rebuilt.find((one) => one.volumeId === volumeId);
  return volume === undefined ? [] : taskNodes(volume);
}

/** Rebuilds that only limits block may preempt others. */
function preemptedFor(
  waiting: ReturnType<typeof admitInLine<Rebuild>>['waiting'],
  counted: readonly Rebuild[],
  admitted: readonly Rebuild[],
  view: AdmissionView,
): RebuildId[] {
  const withDemands = (rebuild: Rebuild) => ({ rebuild, demands: rebuildDemands(rebuild, view) });
  const held = waiting.filter(({ why }) => isLimit(why)).map(({ key }) => withDemands(key));
  const staying = counted.filter(({ preemptedAt }) => preemptedAt === undefined);
  const coming = new AdmissionLoad(view.settings, view.nodes);
  for (const rebuild of [...staying, ...view.ending, ...admitted]) coming.add(rebuildDemands(rebuild, view));
  return choosePreempted(held, staying.map(withDemands), coming);
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

/** Rebuilds that wait to begin, and preempted ones that wait to continue. */
function rebuildLine(view: AdmissionView): QueuedWork<Rebuild>[] {
  const { queued, running, blocked } = view;
  return [...queued, ...running.filter(isPreempted)].sort(compareQueued).map((rebuild) => {
    const task = blocked.find(({ volumeId }) => volumeId === rebuild.volumeId);
    // A task of its volume waits until a rebuild that has begun is over.
    const held = task === undefined || rebuild.state === 'running' ? undefined : blockText(task.reason);
    return {
      key: rebuild,
      demands: rebuildDemands(rebuild, view),
      obstacle: rebuild.paused ? PAUSED : held,
      keepsItsPlace: false,
    };
  });
}

/**
 * While the rebuilds that were preempted for one on its last copy stop one after the other, the places of the first of them are
 * reserved for it. Otherwise they would continue there, and be preempted again, without an end.
 */
function keepingPlaces(
  line: readonly QueuedWork<Rebuild>[],
  counted: readonly Rebuild[],
  view: AdmissionView,
): QueuedWork<Rebuild>[] {
  const coming = new AdmissionLoad(view.settings, view.nodes);
  const staying = counted.filter(({ preemptedAt }) => preemptedAt === undefined);
  for (const rebuild of [...staying, ...view.ending]) coming.add(rebuildDemands(rebuild, view));
  return line.map((work) => {
    const { key, demands, obstacle } = work;
    const mayCome = obstacle === undefined && coming.obstacleFor(demands) === undefined;
    if (!mayCome || !isOnLastCopy(key)) return work;
    coming.add(demands);
    return { ...work, keepsItsPlace: true };
  });
}

function rebuildDemands(
  { volumeId, targetNodeId, sourceNodeIds }: Rebuild,
  { quotas }: Pick<AdmissionView, 'quotas'>,
): Demand[] {
  return [
    { limit: 'cluster', nodeId: undefined },
    { limit: 'target', nodeId: targetNodeId },
    ...sourceNodeIds.map((nodeId): Demand => ({ limit: 'source', nodeId })),
    // A quota spans clusters: running work elsewhere is subtracted from it here.
    ...quotas
      .filter(({ volumeIds }) => volumeIds.includes(volumeId))
      .map((quota): Demand => ({ limit: 'quota', quota })),
  ];
}

function grantsOf(running: readonly Rebuild[], { settings, rebuilt }: AdmissionView): Admissions['grants'] {
  const specs = new Map(rebuilt.map(({ volumeId, spec }) => [volumeId, spec]));
  const shares = shareBandwidth(running, settings, (volumeId) => specs.get(volumeId));
  return running
    .filter(({ id, grantedBytesPerSecond }) => shares.get(id) !== grantedBytesPerSecond)
    .map(({ id }) => ({ rebuildId: id, bytesPerSecond: shares.get(id) }));
}
