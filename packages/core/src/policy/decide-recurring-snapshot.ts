/** Validation of a recurring snapshot's schedule, as a user sets it. */

import { cronProblem } from '../model/cron.js';
import type { FaultItem } from '../model/faults.js';
import { RECURRING_SNAPSHOTS_MAX, RETAIN_MIN, type RecurringSnapshot } from '../model/recurring-snapshot.js';
import type { VolumeView } from '../model/views.js';
import { snapshotsMax } from './decide-snapshot.js';

/** A DNS label that leaves room for the minute in the names of its snapshots. */
export const RECURRING_NAME = /^[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?$/;

export type RecurringSnapshotInput = Pick<RecurringSnapshot, 'name' | 'cron' | 'retain'>;

/** Everything that is wrong with it, at once; empty when it can be kept. */
export function recurringSnapshotProblems(view: VolumeView, input: RecurringSnapshotInput): FaultItem[] {
  const cron = cronProblem(input.cron);
  return [
    ...nameProblems(view, input),
    ...(cron === undefined ? [] : [{ pointer: '/cron', detail: cron }]),
    ...retainProblems(view, input),
  ];
}

function nameProblems({ volume }: VolumeView, { name }: RecurringSnapshotInput): FaultItem[] {
  const pointer = '/name';
  if (!RECURRING_NAME.test(name)) {
    const detail = 'must be 1 to 40 of a-z, 0-9 and -, starting and ending with a letter or digit';
    return [{ pointer, detail }];
  }
  const others = volume.recurringSnapshots.filter((one) => one.name !== name);
  if (others.length < RECURRING_SNAPSHOTS_MAX) return [];
  return [{ pointer, detail: `would be one too many: a volume may have ${RECURRING_SNAPSHOTS_MAX}` }];
}

/** Together they must leave the volume below its limit, or a run would be refused one day for no new reason. */
function retainProblems(view: VolumeView, { name, retain }: RecurringSnapshotInput): FaultItem[] {
  const pointer = '/retain';
  const max = view.fleet.settings['recurring-job-max-retention'];
  if (!Number.isInteger(retain) || retain < RETAIN_MIN || retain > max) {
    return [{ pointer, detail: `must be a whole number from ${RETAIN_MIN} to ${max}` }];
  }
  const others = view.volume.recurringSnapshots.filter((one) => one.name !== name);
  // Each has one more for the moment between a new one and the purge of its oldest.
  const kept = others.reduce((sum, one) => sum + one.retain + 1, retain + 1);
  const limit = snapshotsMax(view);
  if (kept <= limit) return [];
  const detail = `is too many: with the others ${kept} snapshots would be kept, and the volume may have ${limit}`;
  return [{ pointer, detail }];
}
