import type { Change, SpaceBooking } from '@holdfast/control/ports/store.js';
import type { DiskId, ReplicaId } from '@holdfast/core/model/ids.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/**
 * Locks every disk that the commit will book or give back, in id order, so that two commits can't wait for each
 * other. From here on the booked bytes of these disks change in this transaction only.
 */
export async function lockDisks(sql: Sql, changes: readonly Change[]): Promise<void> {
  const booked: DiskId[] = [];
  const released: ReplicaId[] = [];
  for (const change of changes) {
    if (change.kind === 'replica.delete') released.push(change.replicaId);
    if (change.kind === 'replica.place') booked.push(change.booking.diskId);
    if (change.kind === 'replica.resize' && change.booking !== undefined) booked.push(change.booking.diskId);
    if (change.kind === 'replica.create' && change.booking !== undefined) booked.push(change.booking.diskId);
  }
  if (booked.length === 0 && released.length === 0) return;
  await sql.query(
    `SELECT id FROM disk
     WHERE id = ANY($1) OR id IN (SELECT disk_id FROM replica WHERE id = ANY($2))
     ORDER BY id FOR UPDATE`,
    [booked, released],
  );
}

/**
 * Books a replica's nominal size on its disk, if the limit still holds and was computed from the settings as they
 * are. The settings row is locked against change until the commit.
 */
export async function book(sql: Sql, booking: SpaceBooking): Promise<void> {
  const { rows } = await sql.query<{ settings_version: number }>(
    `SELECT c.settings_version FROM cluster c JOIN disk d ON d.cluster_id = c.id WHERE d.id = $1 FOR SHARE OF c`,
    [booking.diskId],
  );
  const settingsVersion = rows[0]?.settings_version;
  if (settingsVersion !== booking.ifSettingsVersion) {
    throw conflict(`the settings changed, or disk ${booking.diskId} is gone`);
  }
  const { rowCount } = await sql.query(
    `UPDATE disk SET storage_scheduled_bytes = storage_scheduled_bytes + $2
     WHERE id = $1 AND storage_scheduled_bytes + $2 <= $3 AND ($4::int IS NULL OR version = $4)
       AND removal_requested_at IS NULL`,
    [booking.diskId, booking.sizeBytes, booking.limitBytes, booking.ifDiskVersion ?? null],
  );
  if (rowCount === 0)
    throw conflict(`disk ${booking.diskId} changed or has no room for the booking any more`);
}

/** Gives a replica's booking back. */
export async function release(
  sql: Sql,
  replica: { disk_id: DiskId | null; size_bytes: number; written_bytes: number },
): Promise<void> {
  if (replica.disk_id === null) return;
  await sql.query(
    `UPDATE disk SET storage_scheduled_bytes = storage_scheduled_bytes - $2,
       written_bytes = greatest(0, written_bytes - $3)
     WHERE id = $1`,
    [replica.disk_id, replica.size_bytes, replica.written_bytes],
  );
}
