import type { NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

const SCHEDULED = `'[{"type": "Scheduled", "status": "True"}]'`;
const READY = `'[{"type": "Ready", "status": "True"}]'`;
/** Sorts before every id, so that a list without a start begins at the first. */
const BEFORE_ALL = '00000000-0000-0000-0000-000000000000';

type Page = { limit: number; afterId?: VolumeId };

/** See `Store.listVolumesToReconcile`: one condition here for each of its words. */
export async function listVolumesToReconcile(
  sql: Sql,
  { now, limit, afterId }: Page & { now: Date },
): Promise<VolumeId[]> {
  const { rows } = await sql.query<{ id: VolumeId }>(
    `SELECT v.id FROM volume v LEFT JOIN node n ON n.id = v.attached_node_id
     WHERE v.id > $1 AND (
       v.state NOT IN ('attached', 'detached')
       OR v.robustness <> 'healthy'
       OR NOT v.conditions @> ${SCHEDULED}
       OR v.observed_generation < v.generation
       OR v.deletion_requested_at IS NOT NULL
       OR v.verification->>'state' = 'running'
       OR v.fill IS NOT NULL
       OR v.hashing IS NOT NULL
       OR v.turn_at IS NOT NULL
       OR v.recurring_due_at <= $3
       OR (v.attachment IS NOT NULL) <> (v.state = 'attached')
       OR v.attachment->>'purpose' = 'rebuild'
       OR v.attachment->>'nodeId' <> v.attached_node_id::text
       OR (v.attached_node_id IS NOT NULL
           AND (n.conditions @> ${READY} AND n.boot_id = v.engine_boot_id) IS NOT TRUE)
       OR (v.state = 'attached' AND NOT EXISTS (
         SELECT FROM engine_observation o
         WHERE o.volume_id = v.id AND o.node_id = v.attached_node_id AND o.epoch = v.epoch))
       OR EXISTS (SELECT FROM rebuild b WHERE b.volume_id = v.id AND b.state IN ('queued', 'running'))
       OR EXISTS (SELECT FROM replica r WHERE r.volume_id = v.id AND r.intent <> 'keep')
       OR (v.state = 'attached' AND (v.layer_task IS NOT NULL OR coalesce(v.chain->>'busy', '-') <> ''
           OR v.chain->>'key' IS DISTINCT FROM (
             SELECT concat(o.report->'record'->>'epoch', '.', o.report->'record'->>'dataGeneration')
             FROM engine_observation o
             WHERE o.volume_id = v.id AND o.node_id = v.attached_node_id AND o.epoch = v.epoch)
           OR EXISTS (SELECT FROM snapshot s WHERE s.volume_id = v.id
               AND (s.state IN ('creating', 'removing') OR s.hash_request IS NOT NULL))))
     )
     ORDER BY v.id LIMIT $2`,
    [afterId ?? BEFORE_ALL, limit, now],
  );
  return rows.map(({ id }) => id);
}

export async function listVolumesOfNode(sql: Sql, nodeId: NodeId, page: Page): Promise<VolumeId[]> {
  const { rows } = await sql.query<{ id: VolumeId }>(
    `SELECT v.id FROM volume v
     WHERE v.id > $2
       AND (v.attached_node_id = $1
            OR EXISTS (SELECT FROM replica r WHERE r.volume_id = v.id AND r.node_id = $1))
     ORDER BY v.id LIMIT $3`,
    [nodeId, page.afterId ?? BEFORE_ALL, page.limit],
  );
  return rows.map(({ id }) => id);
}
