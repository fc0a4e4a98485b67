import { USER_SNAPSHOTS_MAX } from './snapshot.js';

/**
 * Schedule of a volume's recurring snapshots. `name` is unique in the volume, and is what its snapshots are
 * known by: a schedule that is deleted and set again counts the ones it took before.
 */
export type RecurringSnapshot = {
  name: string;
  /** When: see `cron.ts`. In UTC. */
  cron: string;
  /** How many of its snapshots stay; older ones are deleted. */
  retain: number;
  /** When the next one is due. One that is overdue is made up for once, however many times have passed. */
  nextRunAt: Date;
  lastRun: RecurringRun | undefined;
};

/** Result of the last due time. */
export type RecurringRun = {
  dueAt: Date;
  at: Date;
  /** `requested`: a snapshot was requested, and its own state shows the rest. */
  outcome: 'requested' | 'skipped';
  /** Of the snapshot; `undefined` when it was skipped. */
  snapshotName: string | undefined;
  /** Why it was skipped; else empty. */
  message: string;
};

/** Schedules of one volume: hourly, daily, weekly, monthly, and as many again. Each is read with the volume. */
export const RECURRING_SNAPSHOTS_MAX = 8;
export const RETAIN_MIN = 1;
/** Until the oldest is deleted there is one more than `retain`. The setting recurring-job-max-retention is lower. */
export const RETAIN_MAX = USER_SNAPSHOTS_MAX - 1;
