import type { AdmissionView } from '@holdfast/control/ports/store.js';
import { START_CALL_MS_MAX } from '@holdfast/core/admission/plan-admissions.js';
import type { ClusterId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { type RebuildRow, readRebuild } from '../rows/rebuild-row.js';
import { OF_GRANT, REPORTED_AT } from '../sql/of-grant.js';
import type { Sql } from '../sql/scope.js';
import type { ReadFleet } from './fleet-reader.js';
import { loadTasks, loadTaskVolumes } from './load-tasks.js';
import { loadRebuildQuotas } from './rebuild-quotas.js';

/** See `Store.loadAdmissions`. */
export async function loadAdmissionView(
  sql: Sql,
  readFleet: ReadFleet,
  clusterId: ClusterId,
  options: { now: Date; limit: number },
): Promise<AdmissionView & { version: number }> {
  const { settings, nodes } = await readFleet(clusterId);
  const { rows } = await sql.query<RebuildRow>(
    `SELECT * FROM rebuild WHERE cluster_id = $1 AND state IN ('queued', 'running') ORDER BY queued_at, id`,
    [clusterId],
  );
  const active = rows.map(readRebuild);
  return {
    clusterId,
    settings,
    nodes,
    queued: active.filter(({ state }) => state === 'queued'),
    running: active.filter(({ state }) => state === 'running'),
    rebuilt: await loadTaskVolumes(
      sql,
      active.map(({ volumeId }) => volumeId),
    ),
    ending: await loadEndingRebuilds(sql, clusterId),
    blocked: await loadBlockedVolumes(sql, clusterId),
    quotas: await loadRebuildQuotas(sql, clusterId),
    tasks: await loadTasks(sql, clusterId, settings, options),
    version: await loadQueueVersion(sql, clusterId),
  };
}

async function loadQueueVersion(sql: Sql, clusterId: ClusterId): Promise<number> {
  const { rows } = await sql.query<{ version: number }>(
    'SELECT rebuild_queue_version AS version FROM cluster WHERE id = $1',
    [clusterId],
  );
  return rows[0]?.version ?? 0;
}

async function loadBlockedVolumes(sql: Sql, clusterId: ClusterId): Promise<AdmissionView['blocked']> {
  type Row = { id: VolumeId; kind: AdmissionView['blocked'][number]['reason'] };
  const { rows } = await sql.query<Row>(
    `SELECT id, coalesce(rebuild_hold, layer_task->>'kind') AS kind FROM volume
     WHERE cluster_id = $1 AND (rebuild_hold IS NOT NULL OR (layer_task IS NOT NULL AND NOT (
       layer_task->>'kind' = 'purge' AND turn_at IS NULL
       AND (layer_task->>'startedEpoch')::bigint IS DISTINCT FROM epoch))) ORDER BY id`,
    [clusterId],
  );
  return rows.map(({ id, kind }) => ({ volumeId: id, reason: kind }));
}

/** See `Store.loadAdmissions`: the joins say that the engine is still the same, the rest that it may still work. */
async function loadEndingRebuilds(sql: Sql, clusterId: ClusterId): Promise<Rebuild[]> {
  const { rows } = await sql.query<RebuildRow>(
    `SELECT b.* FROM rebuild b
     JOIN volume v ON v.id = b.volume_id AND v.epoch = b.epoch
     JOIN node n ON n.id = v.attached_node_id AND n.boot_id = v.engine_boot_id
     LEFT JOIN engine_observation o
       ON o.volume_id = v.id AND o.node_id = n.id AND ${OF_GRANT} AND o.boot_id = n.boot_id
     LEFT JOIN LATERAL (
       SELECT x->>'state' AS state FROM jsonb_array_elements(o.report->'rebuilds') x
       WHERE x->>'rebuildId' = b.id::text
     ) listed ON true
     WHERE b.cluster_id = $1 AND b.state IN ('cancelled', 'failed')
       AND coalesce(listed.state = 'running',
         (${REPORTED_AT} > b.finished_at + make_interval(secs => $2)) IS NOT TRUE)
     ORDER BY b.queued_at, b.id`,
    [clusterId, START_CALL_MS_MAX / 1000],
  );
  return rows.map(readRebuild);
}
