import type { RebuiltVolume } from '@holdfast/core/forecast/estimate-ends.js';
import type { ClusterId, RebuildId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { type BandwidthRow, readBandwidthSpec } from '../rows/override-columns.js';
import { type RebuildRow, readRebuild } from '../rows/rebuild-row.js';
import type { Sql } from '../sql/scope.js';
import { type ListRequest, listRows, mapPage, type Page } from './list-rows.js';

/**
 * Position of a rebuild `b` among those of its cluster, as text of equal length: running ones, then waiting ones in the order of
 * admission, then ended ones. Its id decides between equal ones, as in `compareQueued`.
 */
const QUEUE_ORDER = `CASE WHEN b.state = 'queued' OR (b.state = 'running' AND b.preempted_at IS NOT NULL) THEN 1
    WHEN b.state = 'running' THEN 0 ELSE 2 END
  || (CASE WHEN b.relocates THEN '1' ELSE '0' END) || lpad(b.healthy_copies::text, 4, '0')
  || lpad(floor(extract(epoch FROM b.queued_at) * 1000)::bigint::text, 16, '0') || lpad(b.size_bytes::text, 20, '0')`;

const FIELDS = {
  id: { sql: 'b.id', type: 'id' },
  volumeId: { sql: 'b.volume_id', type: 'id' },
  targetReplicaId: { sql: 'b.target_replica_id', type: 'id' },
  targetNodeId: { sql: 'b.target_node_id', type: 'id' },
  // One that is preempted waits, as it is shown.
  state: { sql: `CASE WHEN b.preempted_at IS NULL THEN b.state ELSE 'queued' END`, type: 'text' },
  waitingReason: { sql: 'b.waiting_reason', type: 'text' },
  phase: { sql: 'b.phase', type: 'text' },
  percent: { sql: 'b.percent', type: 'number' },
  /** Full copies the volume has: fewest go first. */
  priority: { sql: 'b.healthy_copies', type: 'number' },
  queuedAt: { sql: 'b.queued_at', type: 'time' },
  queueOrder: { sql: `(${QUEUE_ORDER})`, type: 'text' },
} as const;

export async function listRebuilds(
  sql: Sql,
  clusterId: ClusterId,
  request: ListRequest,
): Promise<Page<Rebuild>> {
  const page = await listRows<RebuildRow>(
    sql,
    {
      columns: 'b.*',
      from: 'rebuild b',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-queuedAt',
      where: { text: 'b.cluster_id = $1', values: [clusterId] },
    },
    request,
  );
  return mapPage(page, readRebuild);
}

export async function findRebuild(
  sql: Sql,
  key: { clusterId: ClusterId; rebuildId: RebuildId },
): Promise<Rebuild | undefined> {
  const { rows } = await sql.query<RebuildRow>('SELECT * FROM rebuild WHERE id = $1 AND cluster_id = $2', [
    key.rebuildId,
    key.clusterId,
  ]);
  return rows.map(readRebuild)[0];
}

export type ActiveRebuilds = {
  readonly active: readonly Rebuild[];
  /** The volumes that they are of. */
  readonly volumes: ReadonlyMap<VolumeId, RebuiltVolume>;
};

/** All waiting and running rebuilds, to compute queue position and end. Not more than admission reads. */
export async function loadActiveRebuilds(sql: Sql, clusterId: ClusterId): Promise<ActiveRebuilds> {
  const { rows } = await sql.query<RebuildRow & BandwidthRow & { volume_bytes: number }>(
    `SELECT b.*, v.written_bytes AS volume_bytes, v.data_engine, v.overrides FROM rebuild b JOIN volume v ON v.id = b.volume_id
     WHERE b.cluster_id = $1 AND b.state IN ('queued', 'running')`,
    [clusterId],
  );
  return {
    active: rows.map(readRebuild),
    volumes: new Map(
      rows.map((row) => [row.volume_id, { writtenBytes: row.volume_bytes, spec: readBandwidthSpec(row) }]),
    ),
  };
}
