/** Input of a cluster's risk: the volumes that are not healthy, the nodes that do not answer and the disks that are not ready. */
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { ClusterId, DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import { rebuildsStoppedBy } from '@holdfast/core/model/rebuild-limits.js';
import type { RiskFacts, RiskPlace, RiskVolume } from '@holdfast/core/policy/cluster-risk.js';
import { readConditions, type StoredCondition } from '../rows/json.js';
import { NODE_SILENT, NODE_UNANSWERING, READY } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';
import { loadSettings } from '../store/load-views.js';

/** Volumes judged at once: all of one that lost a zone. Beyond that, the rest is counted as unknown. */
const VOLUMES_MAX = 20_000;

type VolumeRow = {
  id: VolumeId;
  name: string;
  robustness: RiskVolume['robustness'];
  state: string;
  attention: string | null;
  holder_id: NodeId | null;
  held: boolean;
  node_ids: NodeId[] | null;
  disk_ids: DiskId[] | null;
  unplaced: boolean | null;
  wanted: number;
  is_on_silent: boolean | null;
  reachable: number;
  waiting_reason: string | null;
  rebuild: 'running' | 'queued' | 'paused' | null;
};

/**
 * Volumes that may not be healthy, each found by an index. Those that a silent node serves or holds are included at once, not only
 * when each has been judged, which takes a while for thousands. An engine that answers knows its own copies better: the volumes it
 * serves are left out.
 */
const CONCERNED = `
  SELECT id FROM volume WHERE cluster_id = $1 AND robustness <> 'healthy'
  UNION SELECT id FROM volume WHERE cluster_id = $1 AND attached_node_id = ANY ($2)
  UNION SELECT v.id FROM replica r JOIN volume v ON v.id = r.volume_id
    WHERE r.node_id = ANY ($2) AND v.cluster_id = $1 AND v.state NOT IN ('attached', 'detaching')`;

/** Their copies and rebuilds are then read one by one. */
const VOLUMES = `
  SELECT v.id, v.name, v.robustness, v.state, v.attention->>'code' AS attention, v.attached_node_id AS holder_id,
    v.rebuild_hold IS NOT NULL AS held, v.number_of_replicas AS wanted, r.node_ids, r.disk_ids, r.unplaced, r.is_on_silent, r.reachable, b.rebuild,
    (SELECT c->>'reason' FROM jsonb_array_elements(v.conditions) c
     WHERE c->>'type' = 'RebuildWaiting' AND c->>'status' = 'True') AS waiting_reason
  FROM (${CONCERNED}) concerned
  JOIN volume v ON v.id = concerned.id
  CROSS JOIN LATERAL (
    SELECT array_agg(r.node_id) FILTER (WHERE r.intent = 'keep' AND r.node_id IS NOT NULL) AS node_ids,
      array_agg(r.disk_id) FILTER (WHERE r.intent = 'keep' AND r.disk_id IS NOT NULL) AS disk_ids,
      bool_or(r.disk_id IS NULL) FILTER (WHERE r.intent = 'keep') AS unplaced,
      bool_or(r.node_id = ANY ($2)) AS is_on_silent,
      count(*) FILTER (
        WHERE r.healthy_at IS NOT NULL AND r.failed_at IS NULL AND r.node_id <> ALL ($2))::int AS reachable
    FROM replica r WHERE r.volume_id = v.id) r
  LEFT JOIN LATERAL (
    SELECT CASE WHEN b.paused THEN 'paused' ELSE b.state END AS rebuild
    FROM rebuild b WHERE b.volume_id = v.id AND b.state IN ('running', 'queued')
    ORDER BY b.paused, b.state DESC LIMIT 1) b ON true
  ORDER BY v.id LIMIT ${VOLUMES_MAX}`;

const DISK_READY = `d.conditions @> ${READY}`;

type PlaceRow<Id> = {
  id: Id;
  name: string;
  conditions: StoredCondition<'Ready'>[];
  /** Since when its agent is unanswering, which comes before the node is not ready. Null: it is not. */
  unanswered_at: Date | null;
};

/** Of what the caller may see. */
export async function loadRiskFacts(sql: Sql, clusterId: ClusterId): Promise<RiskFacts> {
  const nodes = await sql.query<PlaceRow<NodeId>>(
    `SELECT n.id, n.name, n.conditions, CASE WHEN ${NODE_UNANSWERING} THEN n.unanswered_at END AS unanswered_at
     FROM node n WHERE n.cluster_id = $1 AND ${NODE_SILENT} ORDER BY n.name`,
    [clusterId],
  );
  const { settings } = await loadSettings(sql, clusterId);
  const silentIds = nodes.rows.map(({ id }) => id);
  const volumesTotal = await count(sql, 'SELECT count(*)::int AS count FROM volume WHERE cluster_id = $1', [
    clusterId,
  ]);
  const volumes = await sql.query<VolumeRow>(VOLUMES, [clusterId, silentIds]);
  // Counted only where not all were read: finding them is half of the work of reading them.
  const concerned =
    volumes.rows.length < VOLUMES_MAX
      ? volumes.rows.length
      : await count(sql, `SELECT count(*)::int AS count FROM (${CONCERNED}) concerned`, [
          clusterId,
          silentIds,
        ]);
  const disks = await sql.query<PlaceRow<DiskId>>(
    `SELECT d.id, n.name || '/' || d.name AS name, d.conditions, NULL AS unanswered_at
     FROM disk d JOIN node n ON n.id = d.node_id
     WHERE d.cluster_id = $1 AND NOT ${DISK_READY} AND NOT ${NODE_SILENT} ORDER BY name`,
    [clusterId],
  );
  return {
    volumesTotal,
    unread: Math.max(0, concerned - volumes.rows.length),
    volumes: volumes.rows.map(readVolume),
    silentNodes: nodes.rows.map(readPlace),
    failedDisks: disks.rows.map(readPlace),
    rebuildStop: rebuildsStoppedBy(settings),
  };
}

async function count(sql: Sql, text: string, values: readonly unknown[]): Promise<number> {
  const { rows } = await sql.query<{ count: number }>(text, values);
  return rows[0]?.count ?? 0;
}

function readVolume(row: VolumeRow): RiskVolume {
  const isUnplaced = row.unplaced ?? false;
  const isServed = row.state === 'attached' || row.state === 'detaching';
  const isAtRest = !isServed && row.is_on_silent === true;
  const isBeingMade = row.state === 'creating';
  return {
    id: row.id,
    name: row.name,
    robustness: row.robustness,
    atRest: isAtRest ? { reachable: row.reachable, wanted: row.wanted } : undefined,
    attention: row.attention ?? undefined,
    holderId: row.holder_id ?? undefined,
    nodeIds: row.node_ids ?? [],
    diskIds: row.disk_ids ?? [],
    isUnplaced,
    isBeingMade,
    rebuild: row.rebuild ?? undefined,
    isHeld: row.held,
    waitingReason: row.waiting_reason ?? undefined,
  };
}

function readPlace<Id>({ id, name, conditions, unanswered_at }: PlaceRow<Id>): RiskPlace<Id> {
  const since = unanswered_at ?? conditionOf(readConditions(conditions), 'Ready')?.lastTransitionAt;
  return { id, name, since };
}
