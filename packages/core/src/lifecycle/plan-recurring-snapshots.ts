/**
 * Takes the due snapshots of a volume, and deletes surplus ones of the same schedule.
 *
 * The next due time moves in the commit that requests the snapshot, under the volume's version: of two workers one loses, and one
 * that dies has done both or neither. However many times passed while no worker ran, one snapshot is taken, since several of one
 * moment would hold the same.
 */

import type { Change } from '../model/changes.js';
import { nextCronTime } from '../model/cron.js';
import type { RecurringRun, RecurringSnapshot } from '../model/recurring-snapshot.js';
import { type Snapshot, snapshotsOfSchedule } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import { volumeEvent } from '../model/volume-facts.js';
import { isDeleting, isRepairing } from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import { actionFacts } from '../policy/action-facts.js';
import {
  decideSnapshot,
  deletionChange,
  refusalWhileNeeded,
  snapshotsMax,
  wantedSnapshot,
} from '../policy/decide-snapshot.js';
import type { Step } from './step.js';

/**
 * How long a schedule waits after a snapshot that could not be taken: below an hour, so that an hourly one leaves none out. A full
 * disk is not full for a minute, and each try has all writes wait.
 */
const FAILED_PAUSE_MS = 55 * 60_000;
/** For a schedule that can't be read any more: it says so once a day, and holds nothing up. */
const UNREADABLE_PAUSE_MS = 24 * 3600 * 1000;

export function planRecurringSnapshots(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (isDeleting(volume)) return undefined;
  const due = volume.recurringSnapshots.find(({ nextRunAt }) => nextRunAt.getTime() <= now.getTime());
  return due === undefined ? planRetention(view) : planRun(view, due, now);
}

/** When each schedule is due next. */
export function recurringTimes({ volume: { recurringSnapshots } }: VolumeView): Date[] {
  return recurringSnapshots.map(({ nextRunAt }) => nextRunAt);
}

function planRun(view: VolumeView, due: RecurringSnapshot, now: Date): Step {
  const name = snapshotName(due, now);
  const failed = lastFailure(view, due, now);
  if (failed !== undefined) {
    // Its failure has an event of its own.
    const run = { dueAt: due.nextRunAt, at: now, outcome: 'skipped', snapshotName: undefined } as const;
    const changes = [recorded(view, due, { ...run, message: failed }, now)];
    return { kind: 'commit', why: `${due.name} is skipped: ${failed}`, changes };
  }
  const skipped = obstacleOf(view, due, name, now);
  if (skipped !== undefined) {
    const changes = skippedRun(view, due, skipped, now);
    return { kind: 'commit', why: `${due.name} is skipped: ${skipped}`, changes };
  }
  const run = {
    dueAt: due.nextRunAt,
    at: now,
    outcome: 'requested',
    snapshotName: name,
    message: '',
  } as const;
  const snapshot = wantedSnapshot(view.volume.id, { name, recurringName: due.name }, now);
  return { kind: 'request-snapshot', snapshot, changes: [recorded(view, due, run, now)] };
}

/** Record of a run whose snapshot the store refused, for a quota. */
export function refusedRun(
  view: VolumeView,
  { recurringName }: Pick<Snapshot, 'recurringName'>,
  why: string,
  now: Date,
): Change[] {
  const due = view.volume.recurringSnapshots.find(({ name }) => name === recurringName);
  return due === undefined ? [] : skippedRun(view, due, why, now);
}

function skippedRun(view: VolumeView, due: RecurringSnapshot, why: string, now: Date): Change[] {
  const run: RecurringRun = {
    dueAt: due.nextRunAt,
    at: now,
    outcome: 'skipped',
    snapshotName: undefined,
    message: why,
  };
  return [recorded(view, due, run, now), ...skippedEvent(view, due, why, now)];
}

/** Named by the minute of its request, which for a delayed run is not the due one. */
function snapshotName({ name }: RecurringSnapshot, now: Date): string {
  return `${name}-${now.toISOString().slice(0, 16).replace(/[-:]/g, '')}Z`;
}

function obstacleOf(view: VolumeView, due: RecurringSnapshot, name: string, now: Date): string | undefined {
  const { volume, snapshots } = view;
  if (nextCronTime(due.cron, now) === undefined) return `its schedule ${due.cron} can not be read`;
  const isUsed =
    volume.lifecycle.state === 'attached' && fillOf(volume) === undefined && !isRepairing(volume);
  if (!isUsed) return 'the volume was not attached';
  // A volume whose engine does not answer must not collect snapshots that are all taken when it does.
  if (snapshots.some(({ recurringName, state }) => recurringName === due.name && state === 'creating')) {
    return 'the one before has not been taken yet';
  }
  const decision = decideSnapshot(actionFacts(view), { snapshots, max: snapshotsMax(view) }, name);
  return decision.kind === 'refuse' ? decision.why : undefined;
}

/** Why its last snapshot failed, while it is not to be tried again: a while, unless any snapshot has been taken since. */
function lastFailure({ snapshots }: VolumeView, due: RecurringSnapshot, now: Date): string | undefined {
  const [last] = snapshotsOfSchedule(snapshots, due.name);
  const { trouble } = last ?? {};
  if (last?.state !== 'failed' || trouble === undefined) return undefined;
  const isTakenSince = snapshots.some(
    ({ state, createdAt }) => state === 'ready' && createdAt > last.createdAt,
  );
  const isOver = now.getTime() - trouble.at.getTime() >= FAILED_PAUSE_MS;
  return isTakenSince || isOver ? undefined : `the one before could not be taken: ${trouble.message}`;
}

function recorded({ volume }: VolumeView, due: RecurringSnapshot, lastRun: RecurringRun, now: Date): Change {
  const nextRunAt = nextCronTime(due.cron, now) ?? new Date(now.getTime() + UNREADABLE_PAUSE_MS);
  const recurringSnapshots = volume.recurringSnapshots.map((one) =>
    one.name === due.name ? { ...one, nextRunAt, lastRun } : one,
  );
  return { kind: 'volume.patch', volumeId: volume.id, patch: { recurringSnapshots } };
}

/** One event per reason: a volume that is detached for a week emits it once, not every hour. */
function skippedEvent(view: VolumeView, due: RecurringSnapshot, why: string, now: Date): Change[] {
  if (due.lastRun?.message === why) return [];
  const message = `recurring snapshot ${due.name} of volume ${view.volume.name} was skipped: ${why}`;
  const type = 'RecurringSnapshotSkipped';
  return [{ kind: 'event', event: volumeEvent(view, now, { type, message }) }];
}

/** Deleting is done by the engine, so only while there is one. The purge follows as a step of its own. */
function planRetention(view: VolumeView): Step | undefined {
  if (view.volume.lifecycle.state !== 'attached') return undefined;
  const changes = view.volume.recurringSnapshots.flatMap((one) => retentionChanges(view, one));
  return changes.length === 0
    ? undefined
    : { kind: 'commit', why: 'more are there than are to be kept', changes };
}

/** Only existing snapshots of this schedule count: the oldest is deleted when the newest has been taken. */
function retentionChanges(view: VolumeView, { name, retain }: RecurringSnapshot): Change[] {
  const facts = actionFacts(view);
  const own = snapshotsOfSchedule(view.snapshots, name);
  const taken = own.filter(({ state }) => state === 'ready');
  const ended = own.findIndex(({ state }) => state === 'ready' || state === 'failed');
  const superseded = own.slice(ended + 1).filter(({ state }) => state === 'failed');
  return [
    ...taken
      .slice(retain)
      .filter((snapshot) => refusalWhileNeeded(facts, snapshot) === undefined)
      .map(deletionChange),
    ...superseded.map(({ id }): Change => ({ kind: 'snapshot.delete', snapshotId: id })),
  ];
}
