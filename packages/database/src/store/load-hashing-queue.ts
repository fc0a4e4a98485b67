import type { HashingQueueView } from '@holdfast/control/ports/store.js';
import { lastCronTime } from '@holdfast/core/model/cron.js';
import type { ClusterId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { loadSettings } from './load-views.js';

type BusyRow = { id: VolumeId; node_ids: NodeId[] };
type CandidateRow = BusyRow & { checked_at: Date; is_asked: boolean };

const NODE_IDS = `ARRAY(SELECT DISTINCT r.node_id FROM replica r
  WHERE r.volume_id = v.id AND r.node_id IS NOT NULL ORDER BY r.node_id) AS node_ids`;

/** See `Store.loadHashingQueue`. */
export async function loadHashingQueueView(
  sql: Sql,
  clusterId: ClusterId,
  { now, limit }: { now: Date; limit: number },
): Promise<HashingQueueView & { version: number }> {
  const { settings, rebuildQueueVersion } = await loadSettings(sql, clusterId);
  const dueAt = lastCronTime(settings['snapshot-data-integrity-cronjob'], now);
  const busy = await sql.query<BusyRow>(
    `SELECT v.id, ${NODE_IDS} FROM volume v
     WHERE v.cluster_id = $1
       AND (v.hashing IS NOT NULL OR v.fill IS NOT NULL OR v.layer_task->>'kind' = 'purge')
     ORDER BY v.id`,
    [clusterId],
  );
  const candidates = await sql.query<CandidateRow>(
    `SELECT v.id, ${NODE_IDS}, s.is_asked, GREATEST(v.integrity_checked_at, s.oldest_at) AS checked_at
     FROM volume v CROSS JOIN LATERAL (
       SELECT min(created_at) AS oldest_at,
         coalesce(bool_or((hash_request->>'automatic')::boolean), false) AS is_asked
       FROM snapshot WHERE volume_id = v.id AND origin = 'user' AND state = 'ready'
     ) s
     WHERE v.cluster_id = $1 AND v.state = 'attached' AND v.robustness = 'healthy' AND v.hashing IS NULL
       AND v.fill IS NULL AND v.deletion_requested_at IS NULL AND s.oldest_at IS NOT NULL
       AND (v.integrity_checked_at IS NULL OR v.integrity_checked_at < $4
         OR v.id IN (SELECT volume_id FROM snapshot WHERE hash_request->>'automatic' = 'true'))
       AND CASE v.snapshot_data_integrity WHEN 'ignored' THEN $2 ELSE v.snapshot_data_integrity END <> 'disabled'
     ORDER BY s.is_asked DESC, checked_at, v.id LIMIT $3`,
    [clusterId, settings['snapshot-data-integrity'], limit, dueAt ?? null],
  );
  return {
    clusterId,
    settings,
    busy: busy.rows.map(({ id, node_ids }) => ({ volumeId: id, nodeIds: node_ids })),
    candidates: candidates.rows.map((row) => ({
      volumeId: row.id,
      nodeIds: row.node_ids,
      checkedAt: row.checked_at,
      isAsked: row.is_asked,
    })),
    version: rebuildQueueVersion,
  };
}
