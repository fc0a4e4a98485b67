/** Changes of a commit that add a disk to a node, or take it off. */
import type { Change } from '@holdfast/control/ports/store.js';
import type { ClusterId, DiskId } from '@holdfast/core/model/ids.js';
import { DISKS } from '../rows/disk-row.js';
import { conflict } from '../sql/errors.js';
import type { Commit } from './commit.js';

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

export async function createDisk({ sql, touched }: Commit, { disk }: ChangeOf<'disk.create'>): Promise<void> {
  const names = DISKS.columns.map(({ name }) => name);
  const places = names.map((_, index) => `$${index + 2}`);
  const { rows } = await sql.query<{ cluster_id: ClusterId }>(
    `INSERT INTO disk (organization_id, cluster_id, created_at, ${names.join(', ')})
     SELECT n.organization_id, n.cluster_id, now(), ${places.join(', ')} FROM node n WHERE n.id = $1
     RETURNING cluster_id`,
    [disk.nodeId, ...DISKS.columns.map((column) => column.valueOf(disk))],
  );
  touched.cluster(oneOf(rows, disk.id));
}

export async function removeDisk(
  { sql, touched }: Commit,
  { diskId, at }: ChangeOf<'disk.remove'>,
): Promise<void> {
  const { rows } = await sql.query<{ cluster_id: ClusterId }>(
    `UPDATE disk SET removal_requested_at = $2, allow_scheduling = false, version = version + 1
     WHERE id = $1 AND storage_scheduled_bytes = 0 RETURNING cluster_id`,
    [diskId, at],
  );
  touched.cluster(oneOf(rows, diskId));
}

export async function deleteDisk(
  { sql, touched }: Commit,
  { diskId }: ChangeOf<'disk.delete'>,
): Promise<void> {
  const { rows } = await sql.query<{ cluster_id: ClusterId }>(
    'DELETE FROM disk WHERE id = $1 AND storage_scheduled_bytes = 0 RETURNING cluster_id',
    [diskId],
  );
  touched.cluster(oneOf(rows, diskId));
}

function oneOf(rows: readonly { cluster_id: ClusterId }[], diskId: DiskId): ClusterId {
  const [row] = rows;
  if (row === undefined) throw conflict(`disk ${diskId} is gone, or something is booked on it`);
  return row.cluster_id;
}
