import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { columnsOf, type Table } from '../sql/table.js';
import { orUndefined } from './json.js';

const column = columnsOf<Snapshot>();

export const SNAPSHOTS: Table<Snapshot> = {
  name: 'snapshot',
  columns: [
    column('id', 'id'),
    column('volumeId', 'volume_id'),
    column('name', 'name'),
    column('origin', 'origin'),
    column('parentId', 'parent_id'),
    column('createdAt', 'created_at'),
  ],
};

export type SnapshotRow = {
  id: SnapshotId;
  volume_id: VolumeId;
  name: string;
  origin: Snapshot['origin'];
  parent_id: SnapshotId | null;
  created_at: Date;
};

export function readSnapshot(row: SnapshotRow): Snapshot {
  return {
    id: row.id,
    volumeId: row.volume_id,
    name: row.name,
    origin: row.origin,
    parentId: orUndefined(row.parent_id),
    createdAt: row.created_at,
  };
}
