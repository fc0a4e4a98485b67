import type { CopyDescription } from '@holdfast/core/model/copy-description.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ClusterId, DiskId, NodeId, OrphanId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Orphan, OrphanRemoval } from '@holdfast/core/model/orphan.js';
import { asJson, columnsOf, type Table } from '../sql/table.js';
import { orUndefined, type Stored } from './json.js';
import { readTrouble } from './snapshot-row.js';

const column = columnsOf<Orphan>();

export const ORPHANS: Table<Orphan> = {
  name: 'orphan',
  columns: [
    column('id', 'id'),
    column('clusterId', 'cluster_id'),
    column('nodeId', 'node_id'),
    column('diskId', 'disk_id'),
    column('replicaId', 'replica_id'),
    column('volumeId', 'volume_id'),
    column('writtenBytes', 'written_bytes'),
    column('record', 'record', asJson),
    column('description', 'described_with_secret', asJson),
    column('firstSeenAt', 'first_seen_at'),
    column('announcedAt', 'announced_at'),
    column('removal', 'removal', asJson),
  ],
};

export type OrphanRow = {
  id: OrphanId;
  cluster_id: ClusterId;
  node_id: NodeId;
  disk_id: DiskId;
  replica_id: ReplicaId;
  volume_id: VolumeId;
  written_bytes: number;
  record: CopyRecord | null;
  described_with_secret: CopyDescription | null;
  first_seen_at: Date;
  announced_at: Date | null;
  removal: Stored<OrphanRemoval> | null;
  version: number;
};

export function readOrphan(row: OrphanRow): Orphan {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    nodeId: row.node_id,
    diskId: row.disk_id,
    replicaId: row.replica_id,
    volumeId: row.volume_id,
    writtenBytes: row.written_bytes,
    record: orUndefined(row.record),
    description: orUndefined(row.described_with_secret),
    firstSeenAt: row.first_seen_at,
    announcedAt: orUndefined(row.announced_at),
    removal: row.removal === null ? undefined : readRemoval(row.removal),
    version: row.version,
  };
}

function readRemoval({ by, requestedAt, claimedAt, trouble }: Stored<OrphanRemoval>): OrphanRemoval {
  return {
    by,
    requestedAt: new Date(requestedAt),
    claimedAt: claimedAt === undefined ? undefined : new Date(claimedAt),
    trouble: readTrouble(trouble),
  };
}
