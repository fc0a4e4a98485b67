import { z } from 'zod';

const count = z.int().min(0);

/** Estimated duration of copying. */
export const timeRangeSchema = z
  .object({
    lowSeconds: count.describe('Minimum duration in seconds, at the speed of the fastest rebuilds.'),
    p50Seconds: count.describe('Maximum duration in seconds with a probability of 50 percent.'),
    p90Seconds: count.describe('Maximum duration in seconds with a probability of 90 percent.'),
    basis: z
      .enum(['measured', 'assumed'])
      .describe("Source of the estimate: this cluster's last rebuilds, or typical disks and networks."),
  })
  .meta({ id: 'TimeRange' });
