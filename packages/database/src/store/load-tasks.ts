import type { AdmissionView } from '@holdfast/control/ports/store.js';
import { lastChecks } from '@holdfast/core/admission/task-queue.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { DataEngine } from '@holdfast/core/model/node.js';
import type { ClusterSettings } from '@holdfast/core/model/setting.js';
import type { SnapshotDataIntegrity } from '@holdfast/core/model/volume.js';
import { settingsOf } from '@holdfast/core/settings/engine-maps.js';
import { type BandwidthRow, readBandwidthSpec } from '../rows/override-columns.js';
import { READY } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';

type VolumeTaskRow = { id: VolumeId; node_ids: NodeId[] };
type WaitingRow = VolumeTaskRow & { since: Date };
type CandidateRow = VolumeTaskRow & { data_engine: DataEngine; checked_at: Date; asked_at: Date | null };
/** Those of one data engine whose answer to the question of their integrity is `answer`, and when they were to be checked. */
type Checked = { readonly engine: DataEngine; readonly answer: Answer; readonly dueAt: Date | undefined };

const DATA_ENGINES: readonly DataEngine[] = ['v1', 'v2'];
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
  const admitted = await sql.query<VolumeTaskRow>(
    `SELECT v.id, ${NODE_IDS} FROM volume v
     WHERE v.cluster_id = $1 AND (v.hashing IS NOT NULL
       OR (v.turn_at IS NOT NULL AND (v.fill IS NOT NULL OR v.layer_task->>'kind' = 'purge'))) ORDER BY v.id`,
    [clusterId],
  );
  const candidates = await loadCandidates(sql, clusterId, { checked: checkedAt(settings, now), limit });
  return {
    admitted: admitted.rows.map(taskVolume),
    waiting: (await loadWaiting(sql, clusterId, limit)).map((row) => ({
      ...taskVolume(row),
      since: row.since,
    })),
    candidates: candidates.map((row) => ({
      ...taskVolume(row),
      dataEngine: row.data_engine,
      checkedAt: row.checked_at,
      askedAt: row.asked_at ?? undefined,
    })),
  };
}

/** Volumes with the nodes of their copies, and how fast they may be rebuilt. */
export async function loadTaskVolumes(
  sql: Sql,
  volumeIds: readonly VolumeId[],
): Promise<AdmissionView['rebuilt']> {
  if (volumeIds.length === 0) return [];
  const { rows } = await sql.query<VolumeTaskRow & BandwidthRow>(
    `SELECT v.id, ${NODE_IDS}, v.data_engine, v.overrides FROM volume v WHERE v.id = ANY($1) ORDER BY v.id`,
    [volumeIds],
  );
  return rows.map((row) => ({ ...taskVolume(row), spec: readBandwidthSpec(row) }));
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

/** Which volumes are checked. Those that follow the cluster are, unless it says no to those of their engine. */
function checkedAt(settings: ClusterSettings, now: Date): Checked[] {
  const dueAt = lastChecks(settings, now);
  return DATA_ENGINES.flatMap((engine) => {
    const followers: Answer[] =
      settingsOf(settings, engine)['snapshot-data-integrity'] === 'disabled' ? [] : ['ignored'];
    const answers: Answer[] = ['enabled', 'fast-check', ...followers];
    return answers.map((answer) => ({ engine, answer, dueAt: dueAt[engine] }));
  });
}

const CHECKED_AT = 'GREATEST(v.integrity_checked_at, v.oldest_snapshot_at)';
/** The condition of `volume_hash_check_idx`, and one more. */
const MAY_BE_CHECKED = `v.oldest_snapshot_at IS NOT NULL AND v.state = 'attached' AND v.robustness = 'healthy'
  AND v.hashing IS NULL AND v.fill IS NULL AND v.deletion_requested_at IS NULL`;

/**
 * Those that wait for a hash are found by the index of such snapshots; those whose check is due by a range of an index for
 * each engine and answer, so that a cluster whose volumes have all been checked reads none of them.
 */
async function loadCandidates(
  sql: Sql,
  clusterId: ClusterId,
  { checked, limit }: { checked: readonly Checked[]; limit: number },
): Promise<CandidateRow[]> {
  const { rows } = await sql.query<CandidateRow>(
    `WITH checked AS (
       SELECT * FROM unnest($3::text[], $4::text[], $5::timestamptz[]) AS of_kind (engine, answer, due_at)
     )
     SELECT v.id, ${NODE_IDS}, v.data_engine, found.asked_at, ${CHECKED_AT} AS checked_at
     FROM (
       SELECT id, min(asked_at) AS asked_at FROM (
         SELECT s.volume_id AS id, (s.hash_request->>'requestedAt')::timestamptz AS asked_at FROM snapshot s
         WHERE s.hash_request->>'automatic' = 'true' AND s.origin = 'user' AND s.state = 'ready'
         UNION ALL
         SELECT due.id, NULL FROM checked c, LATERAL (
           SELECT v.id FROM volume v
           WHERE v.cluster_id = $1 AND v.snapshot_data_integrity = c.answer AND v.data_engine = c.engine
             AND ${MAY_BE_CHECKED} AND ${CHECKED_AT} < c.due_at
           ORDER BY ${CHECKED_AT}, v.id LIMIT $2
         ) due
       ) each_found GROUP BY id
     ) found JOIN volume v ON v.id = found.id
     WHERE v.cluster_id = $1 AND ${MAY_BE_CHECKED}
       AND EXISTS (SELECT FROM checked c WHERE c.answer = v.snapshot_data_integrity AND c.engine = v.data_engine)
     ORDER BY found.asked_at IS NULL, checked_at, v.id LIMIT $2`,
    [
      clusterId,
      limit,
      checked.map(({ engine }) => engine),
      checked.map(({ answer }) => answer),
      checked.map(({ dueAt }) => dueAt ?? null),
    ],
  );
  return rows;
}

function taskVolume({ id, node_ids }: VolumeTaskRow) {
  return { volumeId: id, nodeIds: node_ids };
}
