import type { DiskId, NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Relocation } from '@holdfast/core/model/relocation.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { asJson, columnsOf, selectList, type Table } from '../sql/table.js';
import { orUndefined, type Stored } from './json.js';

const column = columnsOf<Replica>();

export const REPLICAS: Table<Replica> = {
  name: 'replica',
  columns: [
    column('id', 'id'),
    column('volumeId', 'volume_id'),
    column('nodeId', 'node_id'),
    column('diskId', 'disk_id'),
    column('sizeBytes', 'size_bytes'),
    column('intent', 'intent'),
    column('mode', 'mode'),
    column('provisioned', 'provisioned'),
    column('healthyAt', 'healthy_at'),
    column('lastHealthyAt', 'last_healthy_at'),
    column('failedAt', 'failed_at'),
    column('lastFailedAt', 'last_failed_at'),
    column('failure', 'failure', asJson),
    column('explanation', 'explanation', asJson),
    column('relocation', 'relocation', asJson),
    column('rebuildRetryCount', 'rebuild_retry_count'),
    column('unreportedSince', 'unreported_since'),
    column('writtenBytes', 'written_bytes'),
    column('secret', 'secret'),
    column('createdAt', 'created_at'),
  ],
};

type HiddenField = 'explanation' | 'unreportedSince' | 'secret' | 'version';
type TimeField = 'healthyAt' | 'lastHealthyAt' | 'failedAt' | 'lastFailedAt' | 'createdAt';

/**
 * A replica for display, without the explanation of its placement: that is most of a row and lists the cluster's places, and is read
 * only by explain requests. In lists, times are texts for users.
 */
export type ShownReplica = Omit<Replica, HiddenField | TimeField> & {
  [Field in TimeField]: Replica[Field] | string;
};

const HIDDEN_FIELDS: ReadonlySet<string> = new Set<HiddenField>([
  'explanation',
  'unreportedSince',
  'secret',
  'version',
]);

/** Columns that {@link readShownReplica} needs, with times as text. */
export function selectShownReplica(alias: string): string {
  const columns = REPLICAS.columns.filter(({ field }) => !HIDDEN_FIELDS.has(field));
  return selectList({ ...REPLICAS, columns }, alias);
}

type HiddenColumn = 'explanation' | 'unreported_since' | 'secret' | 'version';
type TimeColumn = 'healthy_at' | 'last_healthy_at' | 'failed_at' | 'last_failed_at' | 'created_at';

/** Fields that both readings share, each with its kind of times. */
type SharedRow<Time> = Omit<ReplicaRow, HiddenColumn | TimeColumn> & {
  [Column in TimeColumn]: Time | Extract<ReplicaRow[Column], null>;
};

export type ShownReplicaRow = SharedRow<string>;

export type ReplicaRow = {
  id: ReplicaId;
  volume_id: VolumeId;
  node_id: NodeId | null;
  disk_id: DiskId | null;
  size_bytes: number;
  intent: Replica['intent'];
  mode: NonNullable<Replica['mode']> | null;
  provisioned: boolean;
  healthy_at: Date | null;
  last_healthy_at: Date | null;
  failed_at: Date | null;
  last_failed_at: Date | null;
  failure: NonNullable<Replica['failure']> | null;
  explanation: NonNullable<Replica['explanation']> | null;
  relocation: Stored<Relocation> | null;
  rebuild_retry_count: number;
  unreported_since: Date | null;
  written_bytes: number;
  secret: string;
  created_at: Date;
  version: number;
};

export function readReplica(row: ReplicaRow): Replica {
  return {
    ...readShared<Date>(row),
    explanation: orUndefined(row.explanation),
    unreportedSince: orUndefined(row.unreported_since),
    secret: row.secret,
    version: row.version,
  };
}

export function readShownReplica(row: ShownReplicaRow): ShownReplica {
  return readShared(row);
}

function readShared<Time>(row: SharedRow<Time>) {
  return {
    id: row.id,
    volumeId: row.volume_id,
    nodeId: orUndefined(row.node_id),
    diskId: orUndefined(row.disk_id),
    sizeBytes: row.size_bytes,
    intent: row.intent,
    mode: orUndefined(row.mode),
    provisioned: row.provisioned,
    healthyAt: orUndefined(row.healthy_at),
    lastHealthyAt: orUndefined(row.last_healthy_at),
    failedAt: orUndefined(row.failed_at),
    lastFailedAt: orUndefined(row.last_failed_at),
    failure: orUndefined(row.failure),
    relocation: row.relocation === null ? undefined : readRelocation(row.relocation),
    rebuildRetryCount: row.rebuild_retry_count,
    writtenBytes: row.written_bytes,
    createdAt: row.created_at,
  };
}

export function readRelocation(stored: Stored<Relocation>): Relocation {
  const { at, ...rest } = stored;
  // JSON keeps ids as they are, but not their brands.
  return { ...(rest as unknown as Omit<Relocation, 'at'>), at: new Date(at) };
}
