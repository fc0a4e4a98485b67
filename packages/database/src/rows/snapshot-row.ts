import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import type { HashRequest, Snapshot, Trouble } from '@holdfast/core/model/snapshot.js';
import { asJson, columnsOf, type Table } from '../sql/table.js';
import { orUndefined, type Stored } from './json.js';

const column = columnsOf<Snapshot>();

export const SNAPSHOTS: Table<Snapshot> = {
  name: 'snapshot',
  columns: [
    column('id', 'id'),
    column('volumeId', 'volume_id'),
    column('name', 'name'),
    column('origin', 'origin'),
    column('state', 'state'),
    column('recurringName', 'recurring_name'),
    column('parentId', 'parent_id'),
    column('sizeBytes', 'size_bytes'),
    column('checksums', 'checksums', asJson),
    column('hashRequest', 'hash_request', asJson),
    column('trouble', 'trouble', asJson),
    column('createdAt', 'created_at'),
  ],
};

export type SnapshotRow = {
  id: SnapshotId;
  volume_id: VolumeId;
  name: string;
  origin: Snapshot['origin'];
  state: Snapshot['state'];
  recurring_name: string | null;
  parent_id: SnapshotId | null;
  size_bytes: number;
  checksums: Snapshot['checksums'];
  hash_request: Stored<HashRequest> | null;
  trouble: Stored<Trouble> | null;
  created_at: Date;
};

export function readSnapshot(row: SnapshotRow): Snapshot {
  return {
    id: row.id,
    volumeId: row.volume_id,
    name: row.name,
    origin: row.origin,
    state: row.state,
    recurringName: orUndefined(row.recurring_name),
    parentId: orUndefined(row.parent_id),
    sizeBytes: row.size_bytes,
    checksums: row.checksums,
    hashRequest: row.hash_request === null ? undefined : readHashRequest(row.hash_request),
    trouble: readTrouble(row.trouble),
    createdAt: row.created_at,
  };
}

function readHashRequest({ requestedAt, force, automatic, startedEpoch }: Stored<HashRequest>): HashRequest {
  // The previous version had no automatic hashes that wait: all of its are done at once.
  return { requestedAt: new Date(requestedAt), force, automatic: automatic === true, startedEpoch };
}

export function readTrouble(stored: Stored<Trouble> | null | undefined): Trouble | undefined {
  return stored === null || stored === undefined
    ? undefined
    : { message: stored.message, at: new Date(stored.at) };
}
