import { z } from 'zod';

const count = z.int().min(0);

/** How long copying takes. */
export const timeRangeSchema = z
  .object({
    lowSeconds: count.describe('Seconds that it takes at least, at the speed of the fastest rebuilds.'),
    p50Seconds: count.describe('Seconds that it takes at most, with even odds.'),
    p90Seconds: count.describe('Seconds that it takes at most, with nine in ten odds.'),
    basis: z
      .enum(['measured', 'assumed'])
      .describe("From this cluster's last rebuilds, or from what common disks and networks do."),
  })
  .meta({ id: 'TimeRange' });
