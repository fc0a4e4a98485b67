import type { AdmissionView } from '@holdfast/control/ports/store.js';
import { lastCronTime } from '@holdfast/core/model/cron.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { SnapshotDataIntegrity } from '@holdfast/core/model/volume.js';
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
  const candidates = await loadCandidates(sql, [clusterId, checkingAnswers(settings), limit, dueAt ?? null]);
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

type Answer = SnapshotDataIntegrity | 'ignored';

/** Answers of volumes, to the question of their integrity, that have them checked. */
function checkingAnswers(settings: ClusterSettings): Answer[] {
  const own: Answer[] = ['enabled', 'fast-check'];
  return settings['snapshot-data-integrity'] === 'disabled' ? own : [...own, 'ignored'];
}

const CHECKED_AT = 'GREATEST(v.integrity_checked_at, v.oldest_snapshot_at)';
/** The condition of `volume_hash_check_idx`, and one more. */
const MAY_BE_CHECKED = `v.oldest_snapshot_at IS NOT NULL AND v.state = 'attached' AND v.robustness = 'healthy'
  AND v.hashing IS NULL AND v.fill IS NULL AND v.deletion_requested_at IS NULL`;

/**
 * Those that wait for a hash are found by the index of such snapshots; those whose check is due by a range of an index for
 * each answer, so that a cluster whose volumes have all been checked reads none of them.
 *
 * @param values cluster, the answers that have a volume checked, limit, the cron's last time
 */
async function loadCandidates(
  sql: Sql,
  values: [ClusterId, readonly Answer[], number, Date | null],
): Promise<CandidateRow[]> {
  const { rows } = await sql.query<CandidateRow>(
    `SELECT v.id, ${NODE_IDS}, found.asked_at, ${CHECKED_AT} AS checked_at
     FROM (
       SELECT id, min(asked_at) AS asked_at FROM (
         SELECT s.volume_id AS id, (s.hash_request->>'requestedAt')::timestamptz AS asked_at FROM snapshot s
         WHERE s.hash_request->>'automatic' = 'true' AND s.origin = 'user' AND s.state = 'ready'
         UNION ALL
         SELECT due.id, NULL FROM unnest($2::text[]) AS answer, LATERAL (
           SELECT v.id FROM volume v
           WHERE v.cluster_id = $1 AND v.snapshot_data_integrity = answer AND ${MAY_BE_CHECKED}
             AND ${CHECKED_AT} < $4::timestamptz
           ORDER BY ${CHECKED_AT}, v.id LIMIT $3
         ) due
       ) each_found GROUP BY id
     ) found JOIN volume v ON v.id = found.id
     WHERE v.cluster_id = $1 AND v.snapshot_data_integrity = ANY($2) AND ${MAY_BE_CHECKED}
     ORDER BY found.asked_at IS NULL, checked_at, v.id LIMIT $3`,
    values,
  );
  return rows;
}

function taskVolume({ id, node_ids }: VolumeTaskRow) {
  return { volumeId: id, nodeIds: node_ids };
}
