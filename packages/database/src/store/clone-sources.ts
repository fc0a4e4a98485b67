/**
 * Guard of clone sources, which must not be deleted while a clone needs them. A clone's creation counts the source volume up, so that
 * a deletion that was decided before loses and sees the clone when it decides again; and it reads the snapshot only then, so that it
 * sees a deletion that came first.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { compareIds } from '@holdfast/core/model/ids.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import type { Sql } from '../sql/scope.js';

/** Locks the sources, in the order of their ids and before any disk, and returns the fills whose snapshots exist. */
export async function takeCloneSources(sql: Sql, fills: readonly VolumeFill[]): Promise<Set<VolumeFill>> {
  const there = new Set<VolumeFill>();
  for (const fill of [...fills].sort((a, b) => compareIds(a.sourceVolumeId, b.sourceVolumeId))) {
    if (await take(sql, fill)) there.add(fill);
  }
  return there;
}

async function take(sql: Sql, { sourceVolumeId, snapshotId }: VolumeFill): Promise<boolean> {
  const locked = await sql.query(
    'UPDATE volume SET version = version + 1 WHERE id = $1 AND deletion_requested_at IS NULL',
    [sourceVolumeId],
  );
  if (locked.rowCount === 0) return false;
  // A separate statement, which sees commits made while the first one waited.
  const found = await sql.query(`SELECT FROM snapshot WHERE id = $1 AND volume_id = $2 AND state = 'ready'`, [
    snapshotId,
    sourceVolumeId,
  ]);
  return found.rowCount === 1;
}

export function sourceGone(): StorageFault {
  return new StorageFault('snapshot.in_use', {
    publicMessage: 'the snapshot is being deleted, or its volume is',
  });
}
