import type { ClusterId, NodeId, RebuildId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import { NO_BYTES, type Rebuild, type RebuildBytes } from '@holdfast/core/model/rebuild.js';
import { asJson, columnsOf, type Table } from '../sql/table.js';
import { orUndefined } from './json.js';

const column = columnsOf<Rebuild>();

export const REBUILDS: Table<Rebuild> = {
  name: 'rebuild',
  columns: [
    column('id', 'id'),
    column('clusterId', 'cluster_id'),
    column('volumeId', 'volume_id'),
    column('targetReplicaId', 'target_replica_id'),
    column('targetNodeId', 'target_node_id'),
    column('sourceReplicaIds', 'source_replica_ids'),
    column('sourceNodeIds', 'source_node_ids'),
    column('state', 'state'),
    column('phase', 'phase'),
    column('healthyCopies', 'healthy_copies'),
    column('sizeBytes', 'size_bytes'),
    column('relocates', 'relocates'),
    column('waitingFor', 'waiting_for'),
    column('waitingReason', 'waiting_reason'),
    column('purgesFirst', 'purges_first'),
    column('preemptedAt', 'preempted_at'),
    column('paused', 'paused'),
    column('bandwidthBytesPerSecond', 'bandwidth_bytes_per_second'),
    column('grantedBytesPerSecond', 'granted_bytes_per_second'),
    column('tuned', 'tuned', asJson),
    column('epoch', 'epoch'),
    column('bytes', 'bytes', asJson),
    column('percent', 'percent'),
    column('rateBytesPerSecond', 'rate_bytes_per_second'),
    column('snapshots', 'snapshots', asJson),
    column('attempts', 'attempts'),
    column('error', 'error', asJson),
    column('queuedAt', 'queued_at'),
    column('startedAt', 'started_at'),
    column('finishedAt', 'finished_at'),
  ],
};

export type RebuildRow = {
  id: RebuildId;
  cluster_id: ClusterId;
  volume_id: VolumeId;
  target_replica_id: ReplicaId;
  target_node_id: NodeId;
  source_replica_ids: ReplicaId[];
  source_node_ids: NodeId[];
  state: Rebuild['state'];
  phase: Rebuild['phase'];
  healthy_copies: number;
  size_bytes: number;
  relocates: boolean;
  waiting_for: string;
  waiting_reason: Rebuild['waitingReason'] | null;
  purges_first: boolean;
  preempted_at: Date | null;
  paused: boolean;
  bandwidth_bytes_per_second: number | null;
  granted_bytes_per_second: number | null;
  tuned: { paused: boolean; bandwidthBytesPerSecond?: number } | null;
  epoch: number | null;
  /** Rows of earlier versions lack fields that were added since. */
  bytes: Partial<RebuildBytes>;
  percent: number;
  rate_bytes_per_second: number;
  snapshots: Rebuild['snapshots'];
  attempts: number;
  error: NonNullable<Rebuild['error']> | null;
  queued_at: Date;
  started_at: Date | null;
  finished_at: Date | null;
  version: number;
};

export function readRebuild(row: RebuildRow): Rebuild {
  return {
    id: row.id,
    clusterId: row.cluster_id,
    volumeId: row.volume_id,
    targetReplicaId: row.target_replica_id,
    targetNodeId: row.target_node_id,
    sourceReplicaIds: row.source_replica_ids,
    sourceNodeIds: row.source_node_ids,
    state: row.state,
    phase: row.phase,
    healthyCopies: row.healthy_copies,
    sizeBytes: row.size_bytes,
    relocates: row.relocates,
    waitingFor: row.waiting_for,
    waitingReason: orUndefined(row.waiting_reason),
    purgesFirst: row.purges_first,
    preemptedAt: orUndefined(row.preempted_at),
    paused: row.paused,
    bandwidthBytesPerSecond: orUndefined(row.bandwidth_bytes_per_second),
    grantedBytesPerSecond: orUndefined(row.granted_bytes_per_second),
    tuned: row.tuned === null ? undefined : readTuned(row.tuned),
    epoch: orUndefined(row.epoch),
    bytes: { ...NO_BYTES, ...row.bytes },
    percent: row.percent,
    rateBytesPerSecond: row.rate_bytes_per_second,
    snapshots: row.snapshots,
    attempts: row.attempts,
    error: orUndefined(row.error),
    queuedAt: row.queued_at,
    startedAt: orUndefined(row.started_at),
    finishedAt: orUndefined(row.finished_at),
    version: row.version,
  };
}

function readTuned({ paused, bandwidthBytesPerSecond }: NonNullable<RebuildRow['tuned']>): Rebuild['tuned'] {
  // JSON omits undefined fields.
  return { paused, bandwidthBytesPerSecond };
}
