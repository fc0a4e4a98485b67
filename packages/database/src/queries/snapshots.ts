import type { ClusterId, SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { readSnapshot, type SnapshotRow } from '../rows/snapshot-row.js';
import type { Sql } from '../sql/scope.js';
import { type ListSource, listsOf } from './list-rows.js';

/** A snapshot, with whether the head of its volume stands on it. */
export type PlacedSnapshot = { snapshot: Snapshot; isHeadParent: boolean };

type VolumeKey = { clusterId: ClusterId; volumeId: VolumeId };
type Row = SnapshotRow & { is_head_parent: boolean };

const FIELDS = {
  id: { sql: 's.id', type: 'id' },
  name: { sql: 's.name', type: 'text' },
  origin: { sql: 's.origin', type: 'text' },
  state: { sql: 's.state', type: 'text' },
  size: { sql: 's.size_bytes', type: 'number' },
  createdAt: { sql: 's.created_at', type: 'time' },
} as const;

const COLUMNS = `s.*, coalesce(v.chain->>'headParentId' = s.id::text, false) AS is_head_parent`;
const FROM = 'snapshot s JOIN volume v ON v.id = s.volume_id';

const snapshotsOf = ({ volumeId, clusterId }: VolumeKey): ListSource => ({
  columns: COLUMNS,
  from: FROM,
  key: FIELDS.id,
  fields: FIELDS,
  defaultSort: 'createdAt',
  where: { text: 's.volume_id = $1 AND v.cluster_id = $2', values: [volumeId, clusterId] },
});

/** Of a volume, and of several volumes by one statement. */
export const { page: listSnapshots, pageOfEach: listSnapshotsOfEach } = listsOf(snapshotsOf, read);

export async function findSnapshot(
  sql: Sql,
  key: VolumeKey & { snapshotId: SnapshotId },
): Promise<PlacedSnapshot | undefined> {
  const { rows } = await sql.query<Row>(
    `SELECT ${COLUMNS} FROM ${FROM} WHERE s.id = $1 AND s.volume_id = $2 AND v.cluster_id = $3`,
    [key.snapshotId, key.volumeId, key.clusterId],
  );
  return rows.map(read)[0];
}

function read(row: Row): PlacedSnapshot {
  return { snapshot: readSnapshot(row), isHeadParent: row.is_head_parent };
}
