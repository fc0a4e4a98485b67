/**
 * Due times of volumes: listed for the sweep, moved by reconcilers. `writeOutbox` sets the marks.
 */
import type { DuePage, DueVolume } from '@holdfast/control/ports/store.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

/** Sorts before every id and time that are stored, so that a list without a start begins at the first. */
const BEFORE_ALL: { volumeId: string; at: Date | string } = {
  volumeId: '00000000-0000-0000-0000-000000000000',
  at: '-infinity',
};

type Row = { id: VolumeId; reconcile_due_at: Date; party: string };

/** As core's `laneOf` has it. */
const LANE = `CASE WHEN state = 'creating' THEN 'bulk' WHEN state = 'attached' THEN 'safety'
  WHEN state = 'detached' AND robustness IN ('degraded', 'faulted') THEN 'safety' ELSE 'request' END`;

/** One range of `volume_reconcile_due_idx`. */
export async function listDueVolumes(sql: Sql, { now, limit, after, lane }: DuePage): Promise<DueVolume[]> {
  const { at, volumeId } = after ?? BEFORE_ALL;
  const { rows } = await sql.query<Row>(
    `SELECT id, reconcile_due_at, concat_ws(' ', organization_id, state) AS party FROM volume
     WHERE reconcile_due_at <= $1 AND (reconcile_due_at, id) > ($2::timestamptz, $3::uuid)
       AND ($5::text IS NULL OR ${LANE} = $5)
     ORDER BY reconcile_due_at, id LIMIT $4`,
    [now, at, volumeId, limit, lane ?? null],
  );
  return rows.map((row) => ({ volumeId: row.id, at: row.reconcile_due_at, party: row.party }));
}

export async function recordDue(
  sql: Sql,
  volumeId: VolumeId,
  { at, ifMarks }: { at: Date | undefined; ifMarks: number },
): Promise<boolean> {
  const { rowCount } = await sql.query(
    'UPDATE volume SET reconcile_due_at = $2 WHERE id = $1 AND reconcile_marks = $3',
    [volumeId, at ?? null, ifMarks],
  );
  return rowCount === 1;
}
