/**
 * Due times of volumes: listed for the sweep, moved by reconcilers. `writeOutbox` sets the marks.
 */
import type { DueVolume } from '@holdfast/control/ports/store.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

/** Sorts before every id and time that are stored, so that a list without a start begins at the first. */
const BEFORE_ALL: { volumeId: string; at: Date | string } = {
  volumeId: '00000000-0000-0000-0000-000000000000',
  at: '-infinity',
};

type Row = { id: VolumeId; reconcile_due_at: Date };

/** One range of `volume_reconcile_due_idx`. */
export async function listDueVolumes(
  sql: Sql,
  { now, limit, after }: { now: Date; limit: number; after?: DueVolume },
): Promise<DueVolume[]> {
  const { at, volumeId } = after ?? BEFORE_ALL;
  const { rows } = await sql.query<Row>(
    `SELECT id, reconcile_due_at FROM volume
     WHERE reconcile_due_at <= $1 AND (reconcile_due_at, id) > ($2::timestamptz, $3::uuid)
     ORDER BY reconcile_due_at, id LIMIT $4`,
    [now, at, volumeId, limit],
  );
  return rows.map((row) => ({ volumeId: row.id, at: row.reconcile_due_at }));
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
