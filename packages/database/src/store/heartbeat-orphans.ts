import { ORPHANS_OF_NODE_MAX } from '@holdfast/control/ports/store.js';
import type { ReplicaReport } from '@holdfast/core/model/agent-protocol.js';
import { compareIds, type DiskId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '../clock-and-random.js';
import { asJson } from '../sql/table.js';
import type { HeartbeatContext } from './heartbeat-context.js';

type Known = { id: string; replica_id: string; disk_id: DiskId; written_bytes: number; record: unknown };

/**
 * Maintains the list of orphans on this node. A disk that is not ready, or that is another node's, proves nothing either way. Without
 * changes this only reads.
 *
 * A replica's row exists before its copy is made, so a copy without one has lost it, or has just been removed: `plan-orphans.ts`
 * waits until it has been reported for a while.
 */
export async function storeOrphans(context: HeartbeatContext): Promise<void> {
  const { sql, nodeId, heartbeat } = context;
  const readyDisks = new Set(heartbeat.disks.filter(({ ready }) => ready).map(({ diskId }) => diskId));
  const reports = heartbeat.replicas.filter(({ diskId }) => readyDisks.has(diskId));
  const { rows: known } = await sql.query<Known>(
    'SELECT id, replica_id, disk_id, written_bytes, record FROM orphan WHERE node_id = $1',
    [nodeId],
  );
  if (reports.length === 0 && known.length === 0) return;

  const strays = await straysAmong(context, reports);
  // Gone from the disk; or a replica of its id was made while it was being stored here.
  const isStray = new Set(strays.map(({ replicaId, diskId }) => `${diskId} ${replicaId}`));
  const gone = known.filter((row) => readyDisks.has(row.disk_id) && !isStray.has(keyOf(row)));
  if (gone.length > 0) await sql.query('DELETE FROM orphan WHERE id = ANY($1)', [gone.map(({ id }) => id)]);

  const before = new Map(known.map((row) => [keyOf(row), row]));
  // By their volumes: of more than are kept, the nodes then keep copies of the same ones, so that these can be recovered.
  const fresh = strays
    .filter(({ replicaId, diskId }) => !before.has(`${diskId} ${replicaId}`))
    .sort((a, b) => compareIds(a.volumeId, b.volumeId));
  await insertOrphans(context, fresh.slice(0, Math.max(0, ORPHANS_OF_NODE_MAX - known.length)));
  await updateOrphans(context, strays, before);
}

function keyOf({ disk_id, replica_id }: Known): string {
  return `${disk_id} ${replica_id}`;
}

async function straysAmong(
  { sql, nodeId }: HeartbeatContext,
  reports: readonly ReplicaReport[],
): Promise<ReplicaReport[]> {
  if (reports.length === 0) return [];
  const { rows } = await sql.query<{ replica_id: string; disk_id: string }>(
    `SELECT x.replica_id, x.disk_id FROM unnest($2::uuid[], $3::uuid[]) AS x(replica_id, disk_id)
     JOIN disk d ON d.id = x.disk_id AND d.node_id = $1
     WHERE NOT EXISTS (SELECT FROM replica r WHERE r.id = x.replica_id)
     ORDER BY x.replica_id, x.disk_id`,
    [nodeId, reports.map(({ replicaId }) => replicaId), reports.map(({ diskId }) => diskId)],
  );
  const found = new Set(rows.map((row) => `${row.disk_id} ${row.replica_id}`));
  return reports.filter(({ replicaId, diskId }) => found.has(`${diskId} ${replicaId}`));
}

async function insertOrphans(
  { sql, nodeId, now }: HeartbeatContext,
  strays: readonly ReplicaReport[],
): Promise<void> {
  if (strays.length === 0) return;
  const rows = strays.map(({ replicaId, diskId, volumeId, writtenBytes, record }) => {
    const id = systemRandom.id();
    return { id, replica_id: replicaId, disk_id: diskId, volume_id: volumeId, written: writtenBytes, record };
  });
  await sql.query(
    `INSERT INTO orphan (id, organization_id, cluster_id, node_id, disk_id, replica_id, volume_id, written_bytes,
       record, first_seen_at)
     SELECT x.id, n.organization_id, n.cluster_id, n.id, x.disk_id, x.replica_id, x.volume_id, x.written,
       nullif(x.record, 'null'), $3
     FROM node n, jsonb_to_recordset($2::jsonb) AS x(id uuid, disk_id uuid, replica_id uuid, volume_id uuid,
       written bigint, record jsonb)
     WHERE n.id = $1
     ORDER BY x.id
     ON CONFLICT (disk_id, replica_id) DO NOTHING`,
    [nodeId, asJson(rows), now],
  );
}

/**
 * Facts: they do not raise the version. A copy with another record has been used: its description is requested again. The agent
 * itself compares them before a removal.
 */
async function updateOrphans(
  { sql }: HeartbeatContext,
  strays: readonly ReplicaReport[],
  before: ReadonlyMap<string, Known>,
): Promise<void> {
  const changed = strays.flatMap(({ replicaId, diskId, writtenBytes, record }) => {
    const row = before.get(`${diskId} ${replicaId}`);
    const isSame = row?.written_bytes === writtenBytes && sameRecord(row.record, record);
    return row === undefined || isSame ? [] : [{ id: row.id, written: writtenBytes, record }];
  });
  if (changed.length === 0) return;
  await sql.query(
    `UPDATE orphan o SET written_bytes = x.written, record = nullif(x.record, 'null'),
       described_with_secret = CASE WHEN o.record IS DISTINCT FROM nullif(x.record, 'null') THEN NULL
         ELSE o.described_with_secret END
     FROM jsonb_to_recordset($1::jsonb) AS x(id uuid, written bigint, record jsonb) WHERE o.id = x.id`,
    [asJson(changed)],
  );
}

function sameRecord(stored: unknown, record: ReplicaReport['record']): boolean {
  if (typeof stored !== 'object' || stored === null || record === null) return stored === record;
  return (
    'epoch' in stored &&
    'dataGeneration' in stored &&
    stored.epoch === record.epoch &&
    stored.dataGeneration === record.dataGeneration
  );
}
