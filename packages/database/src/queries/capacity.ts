/** The history of a cluster's capacity, from its samples. */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { CapacityUse } from '@holdfast/core/policy/capacity-trend.js';
import { COARSE, FINE } from '../capacity/sample-capacity.js';
import type { Sql } from '../sql/scope.js';

export type CapacitySample = CapacityUse & {
  readonly writtenBytes: number;
  /** Sent by rebuilds within the step. */
  readonly rebuildBytes: number;
};

export type CapacityHistory = { readonly stepSeconds: number; readonly samples: readonly CapacitySample[] };

/** A picture has not more places than this from left to right. */
const SAMPLES_MAX = 600;

/**
 * The samples of the last days, oldest first: of five minutes, or of as many hours as make the history fit into one answer.
 *
 * Empty for a caller who may not see all volumes of the cluster. Read by the key's index.
 */
export async function findCapacityHistory(
  sql: Sql,
  clusterId: ClusterId,
  { days, now }: { days: number; now: Date },
): Promise<CapacityHistory> {
  const kept = days <= FINE.keptDays ? FINE : COARSE;
  const steps = Math.ceil((days * 86_400) / kept.stepSeconds / SAMPLES_MAX);
  const stepSeconds = kept.stepSeconds * steps;
  const { rows } = await sql.query<CapacitySample>(
    `SELECT to_timestamp(floor(extract(epoch FROM at) / $4) * $4) AS at,
       ${lastOf('maximum_bytes')} AS "maximumBytes", ${lastOf('available_bytes')} AS "availableBytes",
       ${lastOf('reserved_bytes')} AS "reservedBytes", ${lastOf('scheduled_bytes')} AS "scheduledBytes",
       ${lastOf('written_bytes')} AS "writtenBytes", sum(rebuild_bytes)::bigint AS "rebuildBytes"
     FROM capacity_sample
     WHERE cluster_id = $1 AND step_seconds = $2 AND at >= $3::timestamptz - make_interval(days => $5) GROUP BY 1 ORDER BY 1`,
    [clusterId, kept.stepSeconds, now, stepSeconds, days],
  );
  return { stepSeconds, samples: rows };
}

/** The newest value within a step. */
function lastOf(column: string): string {
  return `(array_agg(${column} ORDER BY at DESC))[1]`;
}
