import type { VolumeId } from '@holdfast/core/model/ids.js';
import { RETAIN_MAX, RETAIN_MIN, type RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const recurringSnapshotSchema = z
  .object({
    name: z.string().describe('Unique in the volume; stored with its snapshots.'),
    cron: z
      .string()
      .describe('Minute, hour, day of month, month, day of week, or @daily and the like; in UTC.'),
    retain: z.int().describe('Number of its snapshots to keep; older ones are deleted.'),
    nextRunAt: time.describe('Due time of the next snapshot; missed ones are made up for by one.'),
    lastRun: z
      .object({
        dueAt: time.describe('Due time.'),
        at: time.describe('Time of the attempt.'),
        outcome: z
          .enum(['requested', 'skipped'])
          .describe('`requested`: a snapshot was requested; its result is in its own state.'),
        snapshotName: z.string().nullable().describe('Name of that snapshot; null: it was skipped.'),
        message: z.string().describe('Reason for skipping it; empty: it was not skipped.'),
      })
      .nullable()
      .describe('Result of the last due time; null: none has passed.'),
  })
  .meta({ id: 'RecurringSnapshot' });

export type RecurringSnapshotView = z.infer<typeof recurringSnapshotSchema>;

export class RecurringSnapshotPath extends dto(
  z.object({
    clusterId: clusterIdInPath,
    volumeId: id<VolumeId>().describe('Id of the volume.'),
    recurringName: z.string().min(1).max(128).describe('Name of the recurring snapshot.'),
  }),
) {}

export class RecurringSnapshotBody extends dto(
  z.strictObject({
    cron: z.string().min(1).max(100).describe('Schedule, such as `0 3 * * *` or `@hourly`; in UTC.'),
    retain: z
      .int()
      .min(RETAIN_MIN)
      .max(RETAIN_MAX)
      .describe('Number of its snapshots to keep; at most the setting `recurring-job-max-retention`.'),
  }),
) {}

export class RecurringSnapshotDto extends dto(recurringSnapshotSchema) {}
export class RecurringSnapshotPage extends dto(pageOf(recurringSnapshotSchema, 'RecurringSnapshotList')) {}

export function recurringSnapshotView(one: RecurringSnapshot): RecurringSnapshotView {
  const { name, cron, retain, nextRunAt, lastRun } = one;
  return {
    name,
    cron,
    retain,
    nextRunAt: nextRunAt.toISOString(),
    lastRun:
      lastRun === undefined
        ? null
        : {
            dueAt: lastRun.dueAt.toISOString(),
            at: lastRun.at.toISOString(),
            outcome: lastRun.outcome,
            snapshotName: lastRun.snapshotName ?? null,
            message: lastRun.message,
          },
  };
}
