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
/** Retention of samples, in days. */
const DAYS_MAX = 92;

const capacityQuerySchema = z.object({
  days: z.coerce
    .number()
    .int()
    .min(1)
    .max(DAYS_MAX)
    .default(DAYS_DEFAULT)
    .describe('Days of history in the samples. The forecast uses at most the last thirty.'),
});

const daysOrNull = z.int().min(0).nullable();

const forecastSchema = z
  .object({
    verdict: z
      .enum(['unknown', 'steady', 'growing', 'full'])
      .describe(
        '`unknown`: less than a day of history. `steady`: not full within five years. `growing`: full in `days`. `full`: no volume can be placed any more.',
      ),
    limitedBy: z
      .enum(CAPACITY_LIMITS)
      .nullable()
      .describe('The limit reached first: bookable space or free space. Null for `unknown` and `steady`.'),
    growthPerDay: bytes.nullable().describe('Growth towards that limit, in bytes per day. Null: no growth.'),
    days: daysOrNull.describe('Days until it is full, at the median pace. Null unless `growing`.'),
    daysLeast: daysOrNull.describe('The same at a faster pace, the upper quartile. Null unless `growing`.'),
    daysMost: daysOrNull.describe(
      'The same at a slower pace, the lower quartile. Null unless `growing` at that pace and full within five years.',
    ),
    sentence: z.string().describe('The forecast in a sentence, for people.'),
  })
  .meta({ id: 'CapacityForecast' });

const capacitySchema = z
  .object({
    forecast: forecastSchema.describe(
      'Forecast of the time when the cluster is full, if its growth continues.',
    ),
    stepSeconds: z.int().min(1).describe("Length of a sample's step, in seconds."),
    samples: z
      .array(
        z.object({
          at: time.describe('Begin of the step, RFC 3339, UTC.'),
          maximum: bytes.describe('Total size of all disks, in bytes.'),
          available: bytes.describe('Free space of all disks, in bytes.'),
          reserved: bytes.describe('Space reserved for other uses, in bytes.'),
          scheduled: bytes.describe('Total nominal size of all placed copies, in bytes.'),
          written: bytes.describe('Data of volumes in all copies, in bytes.'),
          rebuildTraffic: bytes.describe('Bytes sent by rebuilds within the step.'),
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
