/**
 * Fan-outs: walks over the volumes that a change of a node, a disk or a setting concerns, which mark them due in batches.
 *
 * The change and its fan-out's row are one transaction, and each batch moves the row in the transaction that marks, so a
 * process that dies leaves the rest to the next batch. A batch locks its fan-out before it locks volumes; a transaction
 * that changes a subject therefore stores its fan-out before it touches volumes.
 */
import type { FanOutBatch } from '@holdfast/control/ports/store.js';
import type { ClusterId, DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { SettingName } from '@holdfast/core/model/setting.js';
import type { Sql } from '../sql/scope.js';
import { WakeUpSet, writeOutbox } from './wake-up-set.js';

type Subject =
  | { kind: 'node'; id: NodeId }
  | { kind: 'disk'; id: DiskId }
  | { kind: 'cluster'; id: ClusterId };

/** Sorts before every id: nothing has been marked yet. */
const START = '00000000-0000-0000-0000-000000000000';

/** The cluster's reconciler runs the batches, so the caller has to touch the cluster. */
export async function storeFanOut(sql: Sql, clusterId: ClusterId, { kind, id }: Subject): Promise<void> {
  await sql.query(
    `INSERT INTO reconcile_fan_out AS f (subject_id, subject_kind, organization_id, cluster_id, after_id)
     SELECT $2, $3, organization_id, id, $4 FROM cluster WHERE id = $1
     ON CONFLICT (subject_id) DO UPDATE SET again = f.after_id <> $4`,
    [clusterId, id, kind, START],
  );
}

/**
 * As a change of the cluster, if any volume of it may move to a better place: otherwise no volume has to be reconciled because a node
 * or a disk opens, and in a large cluster some open all the time.
 */
export async function fanOutFreedCapacity(sql: Sql, clusterId: ClusterId): Promise<void> {
  const { rows } = await sql.query<{ may_move: boolean }>(
    `SELECT EXISTS (
         SELECT FROM setting WHERE cluster_id = $1
           AND ((name = $2 AND value <> '"disabled"') OR (name = $3 AND value = 'true'))
       ) OR EXISTS (
         SELECT FROM volume WHERE cluster_id = $1
           AND (replica_auto_balance IN ('least-effort', 'best-effort') OR data_locality = 'best-effort')
       ) AS may_move`,
    [clusterId, 'replica-auto-balance', 'replica-relocate-on-selector-change'] satisfies [
      ClusterId,
      SettingName,
      SettingName,
    ],
  );
  if (rows[0]?.may_move === true) await storeFanOut(sql, clusterId, { kind: 'cluster', id: clusterId });
}

type Row = { subject_id: string; subject_kind: FanOutBatch['of']; after_id: VolumeId; again: boolean };

export async function fanOut(
  sql: Sql,
  clusterId: ClusterId,
  limit: number,
): Promise<FanOutBatch | undefined> {
  const { rows } = await sql.query<Row>(
    `SELECT subject_id, subject_kind, after_id, again FROM reconcile_fan_out WHERE cluster_id = $1
     ORDER BY subject_kind = 'cluster', subject_id LIMIT 1 FOR UPDATE SKIP LOCKED`,
    [clusterId],
  );
  const row = rows[0];
  if (row === undefined) return undefined;
  const volumeIds = await concernedVolumes(sql, clusterId, row, limit);
  const isEnd = volumeIds.length < limit;
  await moveFanOut(sql, row, isEnd ? undefined : volumeIds.at(-1));
  const touched = new WakeUpSet(row.subject_kind === 'cluster' ? 'bulk' : 'safety');
  for (const volumeId of volumeIds) touched.volume(volumeId);
  await writeOutbox(sql, touched);
  return { of: row.subject_kind, isDone: isEnd && !row.again };
}

/** @param lastId the last volume of a batch that was not the last; `undefined` at the end of the walk */
async function moveFanOut(sql: Sql, { subject_id, again }: Row, lastId: VolumeId | undefined): Promise<void> {
  if (lastId === undefined && !again) {
    await sql.query('DELETE FROM reconcile_fan_out WHERE subject_id = $1', [subject_id]);
    return;
  }
  await sql.query('UPDATE reconcile_fan_out SET after_id = $2, again = $3 WHERE subject_id = $1', [
    subject_id,
    lastId ?? START,
    lastId !== undefined && again,
  ]);
}

/** In id order, after the last marked one. */
async function concernedVolumes(
  sql: Sql,
  clusterId: ClusterId,
  { subject_kind, subject_id, after_id }: Row,
  limit: number,
): Promise<VolumeId[]> {
  const values = [after_id, limit, subject_kind === 'cluster' ? clusterId : subject_id];
  const { rows } = await sql.query<{ id: VolumeId }>(
    `SELECT id FROM (${CONCERNED[subject_kind]}) concerned ORDER BY id LIMIT $2`,
    subject_kind === 'node' ? [...values, clusterId] : values,
  );
  return rows.map(({ id }) => id);
}

/** Each branch has its own limit, so that a batch reads no more than it may mark. */
const CONCERNED: Record<FanOutBatch['of'], string> = {
  node: `
    (SELECT id FROM volume WHERE attached_node_id = $3 AND id > $1 ORDER BY id LIMIT $2)
    UNION
    (SELECT DISTINCT volume_id FROM replica WHERE node_id = $3 AND volume_id > $1 ORDER BY volume_id LIMIT $2)
    UNION
    (SELECT id FROM volume WHERE cluster_id = $4 AND attachment IS NOT NULL AND attached_node_id IS NULL AND id > $1
     ORDER BY id LIMIT $2)`,
  disk: 'SELECT DISTINCT volume_id AS id FROM replica WHERE disk_id = $3 AND volume_id > $1',
  cluster: 'SELECT id FROM volume WHERE cluster_id = $3 AND id > $1',
};
