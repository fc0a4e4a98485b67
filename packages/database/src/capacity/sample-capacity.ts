/**
 * Sampling of the clusters' capacity for their history: bytes on the disks, and bytes sent by rebuilds. Needs the system scope.
 *
 * A sample sums the disks' rows, which hold booked and written bytes; no volume and no copy is read. Of several workers the first one
 * writes a step's sample, by its key. An interrupted one has written nothing of the step.
 */
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { type Scope, type Sql, transaction } from '../sql/scope.js';
import { bytesSum } from '../sql/sums.js';

/** Steps of the history, and how long samples of each are kept: 576 and 2,208 rows for a cluster. */
export const FINE = { stepSeconds: 300, keptDays: 2 } as const;
export const COARSE = { stepSeconds: 3_600, keptDays: 92 } as const;

/**
 * Samples each cluster that has disks and no sample of the step that contains `now`, and deletes samples beyond their retention.
 *
 * @param onError receives the error of a cluster that could not be sampled; the others are sampled
 */
export async function sampleCapacity(
  system: Scope,
  now: Date,
  onError: (error: unknown, clusterId: ClusterId) => void,
): Promise<void> {
  const { rows } = await transaction(system, (sql) =>
    sql.query<{ id: ClusterId }>(NOT_SAMPLED, [FINE.stepSeconds, stepOf(now, FINE.stepSeconds)]),
  );
  for (const { id } of rows) {
    await transaction(system, (sql) => sample(sql, id, now)).catch((error: unknown) => onError(error, id));
  }
}

const NOT_SAMPLED = `
  SELECT c.id FROM cluster c
  WHERE NOT EXISTS (SELECT FROM capacity_sample s WHERE s.cluster_id = c.id AND s.step_seconds = $1 AND s.at = $2)
  ORDER BY c.id`;

/** The beginning of the step that a time lies in. */
function stepOf(at: Date, stepSeconds: number): Date {
  const stepMs = stepSeconds * 1_000;
  return new Date(Math.floor(at.getTime() / stepMs) * stepMs);
}

const COLUMNS = `organization_id, cluster_id, step_seconds, at, taken_at, maximum_bytes, available_bytes, reserved_bytes,
    scheduled_bytes, written_bytes, rebuild_bytes, rebuild_open_bytes`;

/**
 * Bytes sent by rebuilds since the previous sample: of open ones and of those that have ended since, less what the open ones had sent
 * by then. A rebuild that was restarted in between has counted back, so the result may be too low, and never negative. Served by the
 * indexes of rebuilds by cluster and state, and by cluster and end.
 */
const TAKE = `
  WITH before AS (
    SELECT taken_at, rebuild_open_bytes FROM capacity_sample
    WHERE cluster_id = $1 AND step_seconds = ${FINE.stepSeconds} ORDER BY at DESC LIMIT 1),
  open AS (
    SELECT coalesce(sum((bytes->>'sent')::numeric), 0) AS bytes FROM rebuild
    WHERE cluster_id = $1 AND state IN ('queued', 'running')),
  ended AS (
    SELECT coalesce(sum((bytes->>'sent')::numeric), 0) AS bytes FROM rebuild
    WHERE cluster_id = $1 AND finished_at > (SELECT taken_at FROM before))
  INSERT INTO capacity_sample (${COLUMNS})
  SELECT c.organization_id, c.id, ${FINE.stepSeconds}, $2, $3, d.maximum, d.available, d.reserved, d.scheduled, d.written,
    coalesce((SELECT greatest(0, open.bytes + ended.bytes - before.rebuild_open_bytes) FROM before), 0), open.bytes
  FROM cluster c CROSS JOIN open CROSS JOIN ended CROSS JOIN LATERAL (
    SELECT ${bytesSum('storage_maximum_bytes')} AS maximum, ${bytesSum('storage_available_bytes')} AS available,
      ${bytesSum('storage_reserved_bytes')} AS reserved, ${bytesSum('storage_scheduled_bytes')} AS scheduled,
      ${bytesSum('written_bytes')} AS written
    FROM disk WHERE cluster_id = c.id) d
  WHERE c.id = $1 AND d.maximum > 0
  ON CONFLICT DO NOTHING`;

/** An hour's sample has the sums of its last step, and what rebuilds have sent in all of them. */
const ADD_TO_HOUR = `
  INSERT INTO capacity_sample (${COLUMNS})
  SELECT organization_id, cluster_id, ${COARSE.stepSeconds}, $3, taken_at, maximum_bytes,
    available_bytes, reserved_bytes, scheduled_bytes, written_bytes, rebuild_bytes, rebuild_open_bytes
  FROM capacity_sample WHERE cluster_id = $1 AND step_seconds = ${FINE.stepSeconds} AND at = $2
  ON CONFLICT (cluster_id, step_seconds, at) DO UPDATE SET taken_at = excluded.taken_at, maximum_bytes = excluded.maximum_bytes,
    available_bytes = excluded.available_bytes, reserved_bytes = excluded.reserved_bytes,
    scheduled_bytes = excluded.scheduled_bytes, written_bytes = excluded.written_bytes,
    rebuild_bytes = capacity_sample.rebuild_bytes + excluded.rebuild_bytes, rebuild_open_bytes = excluded.rebuild_open_bytes`;

async function sample(sql: Sql, clusterId: ClusterId, now: Date): Promise<void> {
  const at = stepOf(now, FINE.stepSeconds);
  const taken = await sql.query(TAKE, [clusterId, at, now]);
  if (taken.rowCount === 0) return;
  await sql.query(ADD_TO_HOUR, [clusterId, at, stepOf(now, COARSE.stepSeconds)]);
  for (const { stepSeconds, keptDays } of [FINE, COARSE]) {
    await sql.query(
      `DELETE FROM capacity_sample
       WHERE cluster_id = $1 AND step_seconds = $2 AND at < $3::timestamptz - make_interval(days => $4)`,
      [clusterId, stepSeconds, now, keptDays],
    );
  }
}
