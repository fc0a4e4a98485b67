/** Disks of a heartbeat that are known on another node: those that have moved to this one, and second disks of one identity. */
import { holdsAcceptance, isSetBack } from '@holdfast/core/lifecycle/plan-set-back.js';
import type { DiskReport, ReplicaReport } from '@holdfast/core/model/agent-protocol.js';
import { duplicateRowId } from '@holdfast/core/model/disk-stamp.js';
import type { DiskId, NodeId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk } from '@holdfast/core/model/node.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { diskEvent } from '@holdfast/core/policy/disk-events.js';
import { type ArrivalVerdict, duplicateReport, judgeArrival } from '@holdfast/core/policy/disk-identity.js';
import { diskMovedNews } from '@holdfast/core/policy/disk-move.js';
import { isHolderProof } from '@holdfast/identity/copy-secret.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import { asJson } from '../sql/table.js';
import { insertEvent } from './events.js';
import type { HeartbeatContext } from './heartbeat-context.js';

type CopyInVolumeRow = {
  volume_id: VolumeId;
  on_disk: boolean;
  mode: Replica['mode'] | null;
  healthy_at: Date | null;
  failed_at: Date | null;
  rebuild_retry_count: number;
  intent: Replica['intent'];
  conditions: StorageDisk['conditions'] | null;
  accepted_node_id: NodeId | null;
};
type CopyRow = { id: ReplicaId; secret: string; mode: Replica['mode'] | null };

export type Arrivals = {
  /** Rows of disks that are this node's from now on, as they are now. */
  readonly moved: readonly DiskRow[];
  /** Second disks: the report that their rows get, and the row of the disk that they are taken for. */
  readonly duplicates: readonly { readonly report: DiskReport; readonly of: DiskRow }[];
  /** Ids of rows of second disks that are to stay as they are. */
  readonly standing: ReadonlySet<string>;
};

/** @param rows locked */
export async function storeArrivals(
  context: HeartbeatContext,
  reports: readonly DiskReport[],
  rows: readonly DiskRow[],
): Promise<Arrivals> {
  const moved: DiskRow[] = [];
  const duplicates: { report: DiskReport; of: DiskRow }[] = [];
  const standing = new Set<string>();
  for (const row of rows) {
    const report = reports.find(({ diskId }) => diskId === row.id);
    if (report === undefined || row.node_id === context.nodeId) continue;
    const verdict = await judge(context, report, row);
    if (verdict?.kind === 'moved') moved.push(await adopt(context, report, row));
    if (verdict?.kind !== 'waits' && verdict?.kind !== 'duplicate') continue;
    await storeRivals(context, row, verdict);
    if (report.ready) standing.add(duplicateRowId(row.id, context.nodeId));
    if (verdict.kind === 'waits') continue;
    duplicates.push({ report: duplicateReport(report, verdict.message, senderOf(context)), of: row });
  }
  return { moved, duplicates, standing };
}

export function senderOf({ nodeId, heartbeat, now }: HeartbeatContext) {
  return { nodeId, bootId: heartbeat.node.bootId, now };
}

/** `undefined`: the disk belongs to another cluster, which is not revealed. */
async function judge(
  context: HeartbeatContext,
  report: DiskReport,
  row: DiskRow,
): Promise<ArrivalVerdict | undefined> {
  const { sql, clusterId } = context;
  const nodes = await sql.query<NodeRow>('SELECT * FROM node WHERE id = $1', [row.node_id]);
  const from = nodes.rows.map(readNode)[0];
  if (from?.clusterId !== clusterId) return undefined;
  const { rows: copies } = await sql.query<CopyRow>(
    'SELECT id, secret, mode FROM replica WHERE disk_id = $1',
    [row.id],
  );
  const replicas = copies.map(({ mode }) => ({ mode: mode ?? undefined }));
  const isProven = holdsCopies(context, row.id, copies);
  const disk = await acceptedAs(context, row);
  return judgeArrival({ disk, from, replicas, isProven }, report, senderOf(context));
}

/** The disk as it is judged: a user's acceptance counts once no copy on it blocks that. */
export async function acceptedAs({ sql }: HeartbeatContext, row: DiskRow): Promise<StorageDisk> {
  const disk = readDisk(row);
  if (disk.acceptedNodeId === undefined) return disk;
  const { rows } = await sql.query<CopyInVolumeRow>(
    `SELECT r.volume_id, r.id = ANY (SELECT id FROM replica WHERE disk_id = $1) AS on_disk,
            r.mode, r.healthy_at, r.failed_at, r.rebuild_retry_count, r.intent, d.conditions, d.accepted_node_id
     FROM replica r LEFT JOIN disk d ON d.id = r.disk_id
     WHERE r.volume_id IN (SELECT volume_id FROM replica WHERE disk_id = $1)`,
    [row.id],
  );
  const copies = rows.map(readCopy);
  const isHeldUp = copies.some(
    (copy) =>
      copy.isOnDisk &&
      holdsAcceptance(
        copy,
        copies.filter((other) => other !== copy && other.volumeId === copy.volumeId),
        ({ disk: where }) => isSetBack(where),
      ),
  );
  return isHeldUp ? { ...disk, acceptedNodeId: undefined } : disk;
}

function readCopy(row: CopyInVolumeRow) {
  return {
    volumeId: row.volume_id,
    isOnDisk: row.on_disk,
    mode: row.mode ?? undefined,
    healthyAt: row.healthy_at ?? undefined,
    failedAt: row.failed_at ?? undefined,
    rebuildRetryCount: row.rebuild_retry_count,
    intent: row.intent,
    disk: { conditions: row.conditions ?? [], acceptedNodeId: row.accepted_node_id ?? undefined },
  };
}

async function adopt(context: HeartbeatContext, report: DiskReport, row: DiskRow): Promise<DiskRow> {
  const { sql, nodeId, clusterId, heartbeat, now, touched } = context;
  const { rows } = await sql.query<{ name: string }>('SELECT name FROM node WHERE id = $1', [row.node_id]);
  // The row of it as a second disk goes with this: the disk itself is here now.
  await sql.query('DELETE FROM disk WHERE id = $1', [duplicateRowId(row.id, nodeId)]);
  await sql.query('UPDATE disk SET node_id = $2, rivals = NULL, version = version + 1 WHERE id = $1', [
    row.id,
    nodeId,
  ]);
  await moveReplicas(context, row.id);
  const news = diskMovedNews(report.name, rows[0]?.name ?? '', heartbeat.node.name);
  await insertEvent(sql, diskEvent(clusterId, row, news, now));
  touched.cluster(clusterId);
  return { ...row, node_id: nodeId, rivals: null };
}

async function storeRivals(
  { sql }: HeartbeatContext,
  { id }: DiskRow,
  { rivals }: Exclude<ArrivalVerdict, { kind: 'moved' }>,
): Promise<void> {
  if (rivals === undefined) return;
  await sql.query('UPDATE disk SET rivals = $2::jsonb WHERE id = $1', [id, asJson(rivals)]);
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
