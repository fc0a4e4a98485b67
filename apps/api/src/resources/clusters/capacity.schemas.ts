import {
  CAPACITY_LIMITS,
  type CapacityTrend,
  type CapacityUse,
  trendSentence,
} from '@holdfast/core/policy/capacity-trend.js';
import type { CapacityHistory } from '@holdfast/database/queries/capacity.js';
import { z } from 'zod';
import { dto } from '../../http/dto.js';
import { bytes, time } from '../../http/schemas.js';

const DAYS_DEFAULT = 2;
/** As long as samples are kept. */
const DAYS_MAX = 92;

const capacityQuerySchema = z.object({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(DAYS_MAX)
    .default(DAYS_DEFAULT)
    .describe(
      'How far back the samples go. The forecast looks back thirty days at most, whatever is asked for.',
    ),
});

const daysOrNull = z.int().min(0).nullable();

const forecastSchema = z
  .object({
    verdict: z
      .enum(['unknown', 'steady', 'growing', 'full'])
      .describe(
        '`unknown`: there is less than a day of history. `steady`: not full within five years. `growing`: full in `days`. `full`: no volume can be placed any more.',
      ),
    limitedBy: z
      .enum(CAPACITY_LIMITS)
      .nullable()
      .describe(
        'What runs out first: what may be promised to volumes, or free space. Null for `unknown` and `steady`.',
      ),
    growthPerDay: bytes
      .nullable()
      .describe('Growth of what runs out first, in bytes a day. Null where it does not grow.'),
    days: daysOrNull.describe('Days until it is full, at the median pace. Null where it is not `growing`.'),
    daysLeast: daysOrNull.describe(
      'The same at a faster pace, the upper quartile. Null where it is not `growing`.',
    ),
    daysMost: daysOrNull.describe(
      'The same at a slower pace, the lower quartile. Null where it is not `growing`, or at that pace not full within five years.',
    ),
    sentence: z.string().describe('All of it, for users.'),
  })
  .meta({ id: 'CapacityForecast' });

const capacitySchema = z
  .object({
    forecast: forecastSchema.describe('When the cluster will be full, if it goes on growing as it did.'),
    stepSeconds: z.int().min(1).describe('The time that each sample stands for, in seconds.'),
    samples: z
      .array(
        z.object({
          at: time.describe('When its step began, RFC 3339, UTC.'),
          maximum: bytes.describe('Sizes of all disks, in bytes.'),
          available: bytes.describe('Free on all disks, in bytes.'),
          reserved: bytes.describe('Kept free for other uses, in bytes.'),
          scheduled: bytes.describe('Sizes of all copies that are placed, in bytes.'),
          written: bytes.describe('Written by volumes to all copies, in bytes.'),
          rebuildTraffic: bytes.describe('Sent by rebuilds within the step, in bytes.'),
        }),
      )
      .describe(
        'Sums over all disks at the end of each step, oldest first. Steps without a sample are left out. Empty for a caller who may not see all volumes of the cluster.',
      ),
  })
  .meta({ id: 'ClusterCapacity' });

export function capacityView(
  { stepSeconds, samples }: CapacityHistory,
  trend: CapacityTrend,
): z.infer<typeof capacitySchema> {
  return {
    forecast: forecastView(trend),
    stepSeconds,
    samples: samples.map((sample) => ({
      ...sizesOf(sample),
      at: sample.at.toISOString(),
      written: sample.writtenBytes,
      rebuildTraffic: sample.rebuildBytes,
    })),
  };
}

function sizesOf({ maximumBytes, availableBytes, reservedBytes, scheduledBytes }: CapacityUse) {
  return {
    maximum: maximumBytes,
    available: availableBytes,
    reserved: reservedBytes,
    scheduled: scheduledBytes,
  };
}

function forecastView(trend: CapacityTrend): z.infer<typeof forecastSchema> {
  const grows = trend.kind === 'growing' ? trend : undefined;
  return {
    verdict: trend.kind,
    limitedBy: 'limitedBy' in trend ? trend.limitedBy : null,
    growthPerDay: grows?.bytesPerDay ?? null,
    days: grows?.days ?? null,
    daysLeast: grows?.daysLeast ?? null,
    daysMost: grows?.daysMost ?? null,
    sentence: trendSentence(trend),
  };
}

export class CapacityQuery extends dto(capacityQuerySchema) {}
export class ClusterCapacityDto extends dto(capacitySchema) {}
