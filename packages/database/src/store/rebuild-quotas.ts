/**
 * Quotas of running rebuilds as admission reads them, and their check in its commit. A quota spans clusters, and each cluster's
 * queue has a version of its own, so two admissions could both give out the last place: the commit counts again, under locks.
 */
import type { Change } from '@holdfast/control/ports/store.js';
import type { ClusterId, RebuildId } from '@holdfast/core/model/ids.js';
import type { RebuildQuota } from '@holdfast/core/model/views.js';
import { conflict } from '../sql/errors.js';
import type { Sql } from '../sql/scope.js';

/** Does a rebuild `b` take a place? As `isPreempted` of core. */
const TAKES_A_PLACE = `b.state = 'running'
  AND NOT (b.preempted_at IS NOT NULL AND coalesce((b.tuned->>'paused')::boolean, false))`;

/** Those that rebuilds of the cluster which wait or run count in. */
export async function loadRebuildQuotas(sql: Sql, clusterId: ClusterId): Promise<RebuildQuota[]> {
  const { rows } = await sql.query<RebuildQuota>(
    `WITH active AS (
       SELECT DISTINCT v.id, v.organization_id, v.project_id, v.granted_tags IS NOT NULL AS is_granted FROM rebuild b JOIN volume v ON v.id = b.volume_id
       WHERE b.cluster_id = $1 AND b.state IN ('queued', 'running')
     )
     SELECT q.id, CASE WHEN q.project_id IS NULL THEN 'organization' ELSE 'project' END AS scope,
       q.running_rebuilds_max AS most,
       (SELECT count(*)::int FROM rebuild b JOIN volume v ON v.id = b.volume_id
        WHERE ${TAKES_A_PLACE} AND b.cluster_id <> $1 AND q.id IN (v.organization_id, v.project_id)) AS elsewhere,
       (SELECT array_agg(a.id ORDER BY a.id) FROM active a WHERE q.id IN (a.organization_id, a.project_id)) AS "volumeIds"
     FROM quota q
     WHERE q.running_rebuilds_max IS NOT NULL
       AND q.id IN (SELECT unnest(ARRAY[a.organization_id, a.project_id]) FROM active a)
     UNION ALL
     SELECT g.id, 'grant', g.running_rebuilds_max, 0, array_agg(a.id ORDER BY a.id)
     FROM cluster_grant g JOIN active a ON a.is_granted AND a.organization_id = g.organization_id
     WHERE g.cluster_id = $1 AND g.running_rebuilds_max IS NOT NULL GROUP BY g.id
     ORDER BY 1`,
    [clusterId],
  );
  return rows;
}

/** @throws StorageFault `store.conflict` when another cluster's admission has taken the last place meanwhile */
export async function assertRebuildQuotas(sql: Sql, changes: readonly Change[]): Promise<void> {
  const begun = changes.flatMap((change) => (begins(change) ? [change.rebuildId] : []));
  if (begun.length === 0) return;
  const ids = await lockQuotas(sql, begun);
  if (ids.length === 0) return;
  // A separate statement, which sees commits made while the first one waited.
  const { rows } = await sql.query<{ id: string }>(
    `SELECT q.id FROM quota q WHERE q.id = ANY($1) AND q.running_rebuilds_max <
       (SELECT count(*) FROM rebuild b JOIN volume v ON v.id = b.volume_id
        WHERE ${TAKES_A_PLACE} AND q.id IN (v.organization_id, v.project_id))`,
    [ids],
  );
  if (rows.length > 0) throw conflict('a quota of running rebuilds was used up meanwhile');
}

function begins(change: Change): change is Extract<Change, { kind: 'rebuild.patch' }> {
  if (change.kind !== 'rebuild.patch') return false;
  const { patch } = change;
  return (
    patch.state === 'running' || (Object.hasOwn(patch, 'preemptedAt') && patch.preemptedAt === undefined)
  );
}

/** In the order in which every commit takes them: the organization's first. */
async function lockQuotas(sql: Sql, begun: readonly RebuildId[]): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(
    `SELECT q.id FROM quota q WHERE q.running_rebuilds_max IS NOT NULL AND q.id IN (
       SELECT unnest(ARRAY[v.organization_id, v.project_id]) FROM rebuild b JOIN volume v ON v.id = b.volume_id
       WHERE b.id = ANY($1))
     ORDER BY q.project_id NULLS FIRST, q.id FOR NO KEY UPDATE`,
    [begun],
  );
  return rows.map(({ id }) => id);
}
