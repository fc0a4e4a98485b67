import type { DiskReport, ReplicaReport } from '@holdfast/core/model/agent-protocol.js';
import type { DiskId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { diskEvent } from '@holdfast/core/policy/disk-events.js';
import { diskMovedNews, hasMoved } from '@holdfast/core/policy/disk-move.js';
import { isHolderProof } from '@holdfast/identity/copy-secret.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { insertEvent } from './events.js';
import type { HeartbeatContext } from './heartbeat-context.js';

type CopyRow = { id: ReplicaId; secret: string; mode: Replica['mode'] | null };

/**
 * Disks of the report that are known on another node and have moved to this one: they and their replicas are this node's from
 * now on.
 *
 * @param rows locked
 * @returns those that moved, as they are now
 */
export async function adoptMovedDisks(
  context: HeartbeatContext,
  reports: readonly DiskReport[],
  rows: readonly DiskRow[],
): Promise<DiskRow[]> {
  const adopted: DiskRow[] = [];
  for (const row of rows) {
    const report = reports.find(({ diskId }) => diskId === row.id);
    if (report === undefined || row.node_id === context.nodeId) continue;
    if (await adopt(context, report, row)) adopted.push({ ...row, node_id: context.nodeId });
  }
  return adopted;
}

async function adopt(context: HeartbeatContext, report: DiskReport, row: DiskRow): Promise<boolean> {
  const { sql, nodeId, clusterId, heartbeat, now, touched } = context;
  const nodes = await sql.query<NodeRow>('SELECT * FROM node WHERE id = $1', [row.node_id]);
  const from = nodes.rows.map(readNode)[0];
  const { rows: copies } = await sql.query<CopyRow>(
    'SELECT id, secret, mode FROM replica WHERE disk_id = $1',
    [row.id],
  );
  const replicas = copies.map(({ mode }) => ({ mode: mode ?? undefined }));
  if (from?.clusterId !== clusterId) return false;
  const isProven = holdsCopies(context, row.id, copies);
  if (!hasMoved({ disk: readDisk(row), from, replicas, isProven }, report)) return false;

  await sql.query('UPDATE disk SET node_id = $2, version = version + 1 WHERE id = $1', [row.id, nodeId]);
  await moveReplicas(context, row.id);
  const news = diskMovedNews(report.name, from.name, heartbeat.node.name);
  await insertEvent(sql, diskEvent(clusterId, row, news, now));
  touched.cluster(clusterId);
  return true;
}

/** Has the node proved all copies that it names of those on the disk, and at least one? Some may be gone with what broke the other node. */
function holdsCopies(
  { heartbeat, nodeId }: HeartbeatContext,
  diskId: DiskId,
  copies: readonly CopyRow[],
): boolean {
  if (copies.length === 0) return true;
  const keys = new Map(copies.map(({ id, secret }) => [id, secret]));
  const named = heartbeat.replicas.filter((one) => one.diskId === diskId && keys.has(one.replicaId));
  const isProven = ({ replicaId, proof = '' }: ReplicaReport) =>
    isHolderProof(keys.get(replicaId) ?? '', nodeId, proof);
  return named.length > 0 && named.every(isProven);
}

async function moveReplicas({ sql, nodeId, touched }: HeartbeatContext, diskId: DiskId): Promise<void> {
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    'UPDATE replica SET node_id = $2, version = version + 1 WHERE disk_id = $1 RETURNING volume_id',
    [diskId, nodeId],
  );
  for (const { volume_id } of rows) touched.volume(volume_id);
}
