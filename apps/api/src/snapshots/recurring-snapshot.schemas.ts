import type { ClusterId, VolumeId } from '@holdfast/core/model/ids.js';
import { RETAIN_MAX, RETAIN_MIN, type RecurringSnapshot } from '@holdfast/core/model/recurring-snapshot.js';
import { z } from 'zod';
import { dto } from '../platform/dto.js';
import { id, pageOf, time } from '../platform/schemas.js';

export const recurringSnapshotSchema = z
  .object({
    name: z.string(),
    cron: z
      .string()
      .describe('Minute, hour, day of month, month, day of week, or @daily and the like; in UTC.'),
    retain: z.int().describe('How many of its snapshots stay.'),
    nextRunAt: time,
    lastRun: z
      .object({
        dueAt: time,
        at: time,
        outcome: z.enum(['requested', 'skipped']),
        snapshotName: z.string().nullable(),
        message: z.string().describe('Why it was skipped.'),
      })
      .nullable(),
  })
  .meta({ id: 'RecurringSnapshot' });

export type RecurringSnapshotView = z.infer<typeof recurringSnapshotSchema>;

export class RecurringSnapshotPath extends dto(
  z.object({
    clusterId: id<ClusterId>(),
    volumeId: id<VolumeId>(),
    recurringName: z.string().min(1).max(128),
  }),
) {}

export class RecurringSnapshotBody extends dto(
  z.strictObject({
    cron: z.string().min(1).max(100).describe('Such as `0 3 * * *` or `@hourly`; in UTC.'),
    retain: z.int().min(RETAIN_MIN).max(RETAIN_MAX).describe('At most recurring-job-max-retention.'),
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
