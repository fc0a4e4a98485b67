import type { VolumeId } from '@holdfast/core/model/ids.js';
import { RETAIN_MAX, RETAIN_MIN, type RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { id, pageOf, time } from '../../http/schemas.js';
import { clusterIdInPath } from '../clusters/cluster.schemas.js';

export const recurringSnapshotSchema = z
  .object({
    name: z.string().describe('Unique in the volume; its snapshots are known by it.'),
    cron: z
      .string()
      .describe('Minute, hour, day of month, month, day of week, or @daily and the like; in UTC.'),
    retain: z.int().describe('How many of its snapshots stay; older ones are deleted.'),
    nextRunAt: time.describe('When the next snapshot is due; one that was missed is made up for once.'),
    lastRun: z
      .object({
        dueAt: time.describe('When it was due.'),
        at: time.describe('When it was acted on.'),
        outcome: z
          .enum(['requested', 'skipped'])
          .describe('`requested`: a snapshot was asked for, and its own state says what became of it.'),
        snapshotName: z.string().nullable().describe('Name of that snapshot; null: it was skipped.'),
        message: z.string().describe('Why it was skipped; empty when it was not.'),
      })
      .nullable()
      .describe('What became of the last due time; null: none has passed.'),
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
    cron: z
      .string()
      .min(1)
      .max(100)
      .describe('When they are taken, such as `0 3 * * *` or `@hourly`; in UTC.'),
    retain: z
      .int()
      .min(RETAIN_MIN)
      .max(RETAIN_MAX)
      .describe('How many of its snapshots stay; at most the setting `recurring-job-max-retention`.'),
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
