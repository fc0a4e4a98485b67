import { createPool } from '@holdfast/database/sql/pool.js';
import { eventually } from './eventually.js';

type Asked = {
  /** Of the database, as the role that owns it: a history is written past all rules. */
  readonly ownerUrl: string;
  readonly clusterId: string;
  readonly days: number;
  /** To volumes, at the end; left out: half of all space. */
  readonly promisedBytes?: number;
};

/**
 * Writes samples of an hour for so many days, in which promised bytes have grown to their present value, and used bytes to a fortieth
 * of that.
 */
export async function writeCapacityHistory({
  ownerUrl,
  clusterId,
  days,
  promisedBytes,
}: Asked): Promise<void> {
  const owner = createPool(ownerUrl, { connectionsMax: 1, applicationName: 'test' });
  try {
    await eventually(
      'a first sample of capacity is there',
      async () =>
        (await owner.query('SELECT FROM capacity_sample WHERE cluster_id = $1', [clusterId])).rowCount,
      (count) => count !== 0,
    );
    await owner.query(
      `INSERT INTO capacity_sample
       SELECT organization_id, cluster_id, 3600, date_trunc('hour', now()) - make_interval(hours => h), now(), maximum_bytes,
         maximum_bytes - promised / 40, reserved_bytes, promised, promised / 40, h * 1000000, 0
       FROM (SELECT * FROM capacity_sample WHERE cluster_id = $1 ORDER BY at DESC LIMIT 1) last, generate_series(0, $2) h,
         LATERAL (SELECT greatest(0, coalesce($3::bigint, maximum_bytes / 2) - h * maximum_bytes / 4000) AS promised) promised
       ON CONFLICT (cluster_id, step_seconds, at) DO UPDATE SET scheduled_bytes = excluded.scheduled_bytes`,
      [clusterId, days * 24, promisedBytes],
    );
  } finally {
    await owner.end();
  }
}
