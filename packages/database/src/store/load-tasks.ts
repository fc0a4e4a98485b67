import type { AdmissionView } from '@holdfast/control/ports/store.js';
import { lastCronTime } from '@holdfast/core/model/cron.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { Sql } from '../sql/scope.js';

type VolumeTaskRow = { id: VolumeId; node_ids: NodeId[] };
type WaitingRow = VolumeTaskRow & { since: Date };
type CandidateRow = VolumeTaskRow & { checked_at: Date; asked_at: Date | null };

const READY = `'[{"type": "Ready", "status": "True"}]'`;
/** A clone that is being filled is read from the copies of its source: their nodes count too. */
const NODE_IDS = `ARRAY(SELECT DISTINCT r.node_id FROM replica r
  WHERE r.volume_id IN (v.id, (v.fill->>'sourceVolumeId')::uuid) AND r.node_id IS NOT NULL
  ORDER BY r.node_id) AS node_ids`;

/** See `Store.loadAdmissions`. */
export async function loadTasks(
  sql: Sql,
  clusterId: ClusterId,
  settings: ClusterSettings,
  { now, limit }: { now: Date; limit: number },
): Promise<AdmissionView['tasks']> {
  const dueAt = lastCronTime(settings['snapshot-data-integrity-cronjob'], now);
  const admitted = await sql.query<VolumeTaskRow>(
    `SELECT v.id, ${NODE_IDS} FROM volume v
     WHERE v.cluster_id = $1 AND (v.hashing IS NOT NULL
       OR (v.turn_at IS NOT NULL AND (v.fill IS NOT NULL OR v.layer_task->>'kind' = 'purge'))) ORDER BY v.id`,
    [clusterId],
  );
  const candidates = await loadCandidates(sql, [
    clusterId,
    settings['snapshot-data-integrity'],
    limit,
    dueAt ?? null,
  ]);
  return {
    admitted: admitted.rows.map(taskVolume),
    waiting: (await loadWaiting(sql, clusterId, limit)).map((row) => ({
      ...taskVolume(row),
      since: row.since,
    })),
    candidates: candidates.map((row) => ({
      ...taskVolume(row),
      checkedAt: row.checked_at,
      askedAt: row.asked_at ?? undefined,
    })),
  };
}

/** Volumes with the nodes of their copies. */
export async function loadTaskVolumes(
  sql: Sql,
  volumeIds: readonly VolumeId[],
): Promise<AdmissionView['rebuilt']> {
  if (volumeIds.length === 0) return [];
  const { rows } = await sql.query<VolumeTaskRow>(
    `SELECT v.id, ${NODE_IDS} FROM volume v WHERE v.id = ANY($1) ORDER BY v.id`,
    [volumeIds],
  );
  return rows.map(taskVolume);
}

/** Both indexes are of the few volumes that have such work. */
async function loadWaiting(sql: Sql, clusterId: ClusterId, limit: number): Promise<WaitingRow[]> {
  const { rows } = await sql.query<WaitingRow>(
    `SELECT v.id, ${NODE_IDS}, coalesce(w.work->'trouble'->>'at', w.work->>'requestedAt')::timestamptz AS since
     FROM volume v JOIN node n ON n.id = v.attached_node_id AND n.conditions @> ${READY}
     CROSS JOIN LATERAL (SELECT coalesce(v.fill, v.layer_task) AS work) w
     WHERE v.cluster_id = $1 AND v.state = 'attached' AND v.turn_at IS NULL AND v.deletion_requested_at IS NULL
       AND (v.fill IS NOT NULL OR v.layer_task->>'kind' = 'purge')
       AND NOT EXISTS (SELECT FROM rebuild b WHERE b.volume_id = v.id AND b.state = 'running')
     ORDER BY since, v.id LIMIT $2`,
    [clusterId, limit],
  );
  return rows;
}

/** @param values cluster, the cluster's integrity setting, limit, the cron's last time */
async function loadCandidates(
  sql: Sql,
  values: [ClusterId, string, number, Date | null],
): Promise<CandidateRow[]> {
  const { rows } = await sql.query<CandidateRow>(
    `SELECT v.id, ${NODE_IDS}, s.asked_at, GREATEST(v.integrity_checked_at, s.oldest_at) AS checked_at
     FROM volume v CROSS JOIN LATERAL (
       SELECT min(created_at) AS oldest_at,
         min((hash_request->>'requestedAt')::timestamptz)
           FILTER (WHERE (hash_request->>'automatic')::boolean) AS asked_at
       FROM snapshot WHERE volume_id = v.id AND origin = 'user' AND state = 'ready'
     ) s
     WHERE v.cluster_id = $1 AND v.state = 'attached' AND v.robustness = 'healthy' AND v.hashing IS NULL
       AND v.fill IS NULL AND v.deletion_requested_at IS NULL AND s.oldest_at IS NOT NULL
       AND (v.integrity_checked_at IS NULL OR v.integrity_checked_at < $4
         OR v.id IN (SELECT volume_id FROM snapshot WHERE hash_request->>'automatic' = 'true'))
       AND CASE v.snapshot_data_integrity WHEN 'ignored' THEN $2 ELSE v.snapshot_data_integrity END <> 'disabled'
     ORDER BY s.asked_at IS NULL, checked_at, v.id LIMIT $3`,
    values,
  );
  return rows;
}

function taskVolume({ id, node_ids }: VolumeTaskRow) {
  return { volumeId: id, nodeIds: node_ids };
}
