import { applyDiskReport } from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import type { DiskReport, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { duplicateRowId } from '@holdfast/core/model/disk-stamp.js';
import { compareIds, type DiskId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk } from '@holdfast/core/model/node.js';
import { belowMountPoints } from '@holdfast/core/policy/below-mount-points.js';
import { diskEvent, diskRemovedNews } from '@holdfast/core/policy/disk-events.js';
import { type DiskWishes, type SettledDisk, settledBy, wishesOf } from '@holdfast/core/policy/disk-wishes.js';
import { isListed } from '@holdfast/core/policy/unreported-copies.js';
import { unreportedDisks } from '@holdfast/core/policy/unreported-disks.js';
import { type DiskRow, readDisk } from '../rows/disk-row.js';
import { asJson } from '../sql/table.js';
import { insertEvent } from './events.js';
import type { HeartbeatContext } from './heartbeat-context.js';
import { storeArrivals } from './heartbeat-moved-disks.js';
import { endDuplicates, judgeHeld, storeDuplicates, storeStamps } from './heartbeat-stamps.js';

/** Disks in the answer to the report. */
export type StoredDisks = {
  readonly wishes: DiskWishes | undefined;
  readonly stamps: NonNullable<HeartbeatReply['stamps']>;
  /** Those that were known, and are the node's. */
  readonly known: readonly StorageDisk[];
  /** Rows that the report ends, and that stay while something is booked there. */
  readonly isEndingRows: boolean;
};

/** Bounds the transaction; more copies than a node can hold. */
const WOKEN_MAX = 10_000;

/**
 * Stores the disks' facts, and creates disks at their first contact.
 *
 * A disk whose identity another node has already reported stays that node's as long as it may be there: two nodes that report one
 * disk must not take it from each other in turn.
 */
export async function storeDisks(context: HeartbeatContext): Promise<StoredDisks> {
  const { sql, nodeId, heartbeat } = context;
  const reports = [...heartbeat.disks].sort((a, b) => compareIds(a.diskId, b.diskId));
  const { rows } = await sql.query<DiskRow>(
    'SELECT * FROM disk WHERE id = ANY($1) OR node_id = $2 ORDER BY id FOR UPDATE',
    [reports.map(({ diskId }) => diskId), nodeId],
  );
  const { moved, duplicates, standing } = await storeArrivals(context, reports, rows);
  const known = new Map<string, DiskRow>([...rows, ...moved].map((row) => [row.id, row]));
  const held = await judgeHeld(context, reports, known);
  const effective = [...held.reports, ...duplicates.map(({ report }) => report)];

  const wasAdopted = new Set<string>(moved.map(({ id }) => duplicateRowId(id, nodeId)));
  const ofNode = rows.filter(({ id, node_id }) => node_id === nodeId && !wasAdopted.has(id)).map(readDisk);
  const settled = settledBy(effective, ofNode).filter(
    ({ disk, as }) => as !== 'single' || !standing.has(disk.id),
  );
  const ended = await endRows(context, settled);
  const stays = ofNode.filter(({ id }) => !ended.has(id));
  const visible = belowMountPoints(effective, stays);
  await storeReports(context, [...visible, ...unreportedDisks(visible, stays)], known);
  await storeAnswers(context, effective);
  await storeStamps(context, held.stamps);
  await storeDuplicates(context, duplicates);
  const single = settled.flatMap(({ disk }) => disk.duplicateOf ?? []);
  await endDuplicates(context, [...single, ...moved.map(({ id }) => id)]);
  return {
    wishes: wishesOf(stays),
    stamps: held.confirmed,
    known: [...stays, ...moved.map(readDisk)],
    isEndingRows: ended.size < settled.length,
  };
}

async function storeReports(
  context: HeartbeatContext,
  reports: readonly DiskReport[],
  known: ReadonlyMap<string, DiskRow>,
): Promise<void> {
  const { sql, clusterId, nodeId, touched } = context;
  const changed = reports
    .map((report) => toUpdate(report, known.get(report.diskId), context))
    .filter((update) => update !== undefined);
  if (changed.length === 0) return;
  await sql.query(
    `INSERT INTO disk AS d (id, organization_id, cluster_id, node_id, name, path, type, file_system,
       storage_maximum_bytes, storage_available_bytes, conditions, version, created_at)
     SELECT x.id, n.organization_id, n.cluster_id, n.id, x.name, x.path, x.type, x.file_system,
       x.maximum, x.available, x.conditions, 1 + x.counted, $3
     FROM node n, jsonb_to_recordset($2::jsonb) AS x(id uuid, name text, path text, type text, file_system text,
       maximum bigint, available bigint, conditions jsonb, counted int)
     WHERE n.id = $1
     ORDER BY x.id
     ON CONFLICT (id) DO UPDATE SET name = excluded.name, path = excluded.path, type = excluded.type,
       file_system = excluded.file_system, storage_maximum_bytes = excluded.storage_maximum_bytes,
       storage_available_bytes = excluded.storage_available_bytes, conditions = excluded.conditions,
       version = d.version + excluded.version - 1
     WHERE d.node_id = excluded.node_id`,
    [nodeId, asJson(changed.map(({ row }) => row)), context.now],
  );
  for (const { told, row } of changed) {
    if (told !== undefined) await insertEvent(sql, diskEvent(clusterId, row, told, context.now));
  }
  if (changed.some(({ concernsCluster }) => concernsCluster)) touched.cluster(clusterId);
  await wakeVolumesOf(
    context,
    changed.filter(({ concernsReplicas }) => concernsReplicas).map(({ row }) => row.id),
  );
}

/** No decision depends on how fast a disk answers, so the version stays. The rows are locked, in order, since they were read. */
async function storeAnswers(
  { sql, nodeId, now }: HeartbeatContext,
  reports: readonly DiskReport[],
): Promise<void> {
  const told = reports.flatMap(({ diskId: id, answers }) =>
    answers === undefined ? [] : [{ id, answers: { ...answers, at: now.toISOString() } }],
  );
  if (told.length === 0) return;
  await sql.query(
    `UPDATE disk d SET answers = x.answers FROM jsonb_to_recordset($2::jsonb) AS x(id uuid, answers jsonb)
     WHERE d.id = x.id AND d.node_id = $1`,
    [nodeId, asJson(told)],
  );
}

/** Deletes the rows that the report ends. One with a booking stays: its bookings have to go first. */
async function endRows(
  { sql, clusterId, heartbeat, now, touched }: HeartbeatContext,
  settled: readonly SettledDisk[],
): Promise<Set<DiskId>> {
  const ended = new Set<DiskId>();
  for (const one of settled) {
    const { id } = one.disk;
    const { rowCount } = await sql.query('DELETE FROM disk WHERE id = $1 AND storage_scheduled_bytes = 0', [
      id,
    ]);
    if (rowCount === 0) continue;
    ended.add(id);
    touched.cluster(clusterId);
    if (one.as !== 'removed' || one.disk.duplicateOf !== undefined) continue;
    await insertEvent(
      sql,
      diskEvent(clusterId, one.disk, diskRemovedNews(one.disk, heartbeat.node.name), now),
    );
  }
  return ended;
}

/**
 * Disks that became full, were lost or recovered: their volumes' conditions change, and rebuilds and attaches may become possible.
 */
async function wakeVolumesOf({ sql, touched }: HeartbeatContext, diskIds: readonly string[]): Promise<void> {
  if (diskIds.length === 0) return;
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    'SELECT DISTINCT volume_id FROM replica WHERE disk_id = ANY($1) LIMIT $2',
    [diskIds, WOKEN_MAX],
  );
  for (const { volume_id } of rows) touched.volume(volume_id);
}

/** Change to write for one report; undefined when the row is current. */
function toUpdate(report: DiskReport, row: DiskRow | undefined, { now, nodeId }: HeartbeatContext) {
  const known = row === undefined ? undefined : readDisk(row);
  if (known !== undefined && known.nodeId !== nodeId) return undefined;
  const news = applyDiskReport(known, report, now);
  if (news === undefined) return undefined;
  const { name, path, type, fileSystem, storageMaximumBytes, storageAvailableBytes, conditions } = news.facts;
  return {
    ...news,
    row: {
      id: report.diskId,
      name,
      path,
      type,
      file_system: fileSystem,
      maximum: storageMaximumBytes,
      available: storageAvailableBytes,
      conditions,
      counted: news.isCounted ? 1 : 0,
    },
  };
}

/** Stores what each copy has written, and the sums per disk that the placement reads. */
export async function storeReplicaUsage({ sql, nodeId, heartbeat }: HeartbeatContext): Promise<void> {
  if (heartbeat.replicas.length === 0) return;
  const reports = [...heartbeat.replicas].sort((a, b) => compareIds(a.replicaId, b.replicaId));
  const { rows } = await sql.query<{ disk_id: DiskId }>(
    `UPDATE replica r SET written_bytes = x.written
     FROM unnest($2::uuid[], $3::bigint[]) AS x(id, written)
     WHERE r.id = x.id AND r.node_id = $1 AND r.written_bytes <> x.written
     RETURNING r.disk_id`,
    [nodeId, reports.map(({ replicaId }) => replicaId), reports.map(({ writtenBytes }) => writtenBytes)],
  );
  if (rows.length === 0) return;
  await sql.query(
    `UPDATE disk d SET written_bytes = used.bytes
     FROM (SELECT disk_id, sum(written_bytes)::bigint AS bytes FROM replica WHERE disk_id = ANY($1) GROUP BY disk_id) used
     WHERE d.id = used.disk_id`,
    [[...new Set(rows.map(({ disk_id }) => disk_id))]],
  );
}

/** Notes which replicas on disks that the report lists in full it does not name, and since when. While nothing is new this only reads. */
export async function storeAbsentCopies(context: HeartbeatContext): Promise<void> {
  const { sql, nodeId, heartbeat, now, touched } = context;
  const listed = heartbeat.disks.filter(isListed).map(({ diskId }) => diskId);
  if (listed.length === 0) return;
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    `UPDATE replica SET unreported_since = CASE WHEN unreported_since IS NULL THEN $4::timestamptz END
     WHERE node_id = $1 AND provisioned AND disk_id = ANY($2)
       AND (unreported_since IS NULL) <> (id = ANY($3))
     RETURNING volume_id`,
    [nodeId, listed, heartbeat.replicas.map(({ replicaId }) => replicaId), now],
  );
  for (const { volume_id } of rows) touched.volume(volume_id);
}
