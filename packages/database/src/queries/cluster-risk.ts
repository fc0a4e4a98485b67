/** What a look at a cluster's risk is worked out from: the volumes that are not healthy, and the nodes and disks that are not ready. */
import { conditionOf } from '@holdfast/core/model/condition.js';
import type { ClusterId, DiskId, NodeId, VolumeId } from '@holdfast/core/model/ids.js';
import type { RiskFacts, RiskPlace, RiskVolume } from '@holdfast/core/policy/cluster-risk.js';
import { readConditions, type StoredCondition } from '../rows/json.js';
import type { Sql } from '../sql/scope.js';

/** Volumes judged in one look: all of one that lost a zone. Past that the look tells of these, and counts the rest as unknown. */
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
  rebuild: 'running' | 'queued' | 'paused' | null;
};

/**
 * Served by indexes of the volumes that are not healthy, whose rebuilds and copies are then read one by one. Those that a silent node
 * serves are among them at once, and not only when each has been judged, which takes a while for thousands.
 */
const NOT_HEALTHY = `
  SELECT v.id, v.name, CASE v.robustness WHEN 'healthy' THEN 'unknown' ELSE v.robustness END AS robustness,
    v.state, v.attention->>'code' AS attention, v.attached_node_id AS holder_id, v.rebuild_hold IS NOT NULL AS held, r.node_ids, r.disk_ids, r.unplaced, b.rebuild
  FROM volume v
  CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT r.node_id) FILTER (WHERE r.node_id IS NOT NULL) AS node_ids,
      array_agg(DISTINCT r.disk_id) FILTER (WHERE r.disk_id IS NOT NULL) AS disk_ids,
      bool_or(r.disk_id IS NULL) AS unplaced
    FROM replica r WHERE r.volume_id = v.id AND r.intent = 'keep') r
  LEFT JOIN LATERAL (
    SELECT CASE WHEN b.paused THEN 'paused' ELSE b.state END AS rebuild
    FROM rebuild b WHERE b.volume_id = v.id AND b.state IN ('running', 'queued')
    ORDER BY b.paused, b.state DESC LIMIT 1) b ON true
  WHERE v.cluster_id = $1 AND (v.robustness <> 'healthy' OR v.attached_node_id = ANY ($2))
  ORDER BY v.id LIMIT ${VOLUMES_MAX}`;

const READY = `conditions @> '[{"type": "Ready", "status": "True"}]'`;

type PlaceRow<Id> = { id: Id; name: string; conditions: StoredCondition<'Ready'>[] };

/** Of what the caller may see; a cluster that is not there has nothing at risk. */
export async function loadRiskFacts(sql: Sql, clusterId: ClusterId): Promise<RiskFacts> {
  const nodes = await sql.query<PlaceRow<NodeId>>(
    `SELECT id, name, conditions FROM node WHERE cluster_id = $1 AND NOT ${READY} ORDER BY name`,
    [clusterId],
  );
  const silentIds = nodes.rows.map(({ id }) => id);
  const totals = await sql.query<{ total: number; not_healthy: number }>(
    `SELECT count(*)::int AS total,
       (SELECT count(*)::int FROM volume
        WHERE cluster_id = $1 AND (robustness <> 'healthy' OR attached_node_id = ANY ($2))) AS not_healthy
     FROM volume WHERE cluster_id = $1`,
    [clusterId, silentIds],
  );
  const volumes = await sql.query<VolumeRow>(NOT_HEALTHY, [clusterId, silentIds]);
  const disks = await sql.query<PlaceRow<DiskId>>(
    `SELECT d.id, n.name || '/' || d.name AS name, d.conditions FROM disk d JOIN node n ON n.id = d.node_id
     WHERE d.cluster_id = $1 AND NOT d.${READY} AND n.${READY} ORDER BY name`,
    [clusterId],
  );
  const { total = 0, not_healthy: notHealthy = 0 } = totals.rows[0] ?? {};
  return {
    volumesTotal: total,
    unread: Math.max(0, notHealthy - volumes.rows.length),
    volumes: volumes.rows.map(readVolume),
    silentNodes: nodes.rows.map(readPlace),
    failedDisks: disks.rows.map(readPlace),
  };
}

function readVolume(row: VolumeRow): RiskVolume {
  const isUnplaced = row.unplaced ?? false;
  // Its copies are being made: that ends as a rebuild does.
  const isMade = row.state === 'creating' && !isUnplaced;
  return {
    id: row.id,
    name: row.name,
    robustness: row.robustness,
    attention: row.attention ?? undefined,
    holderId: row.holder_id ?? undefined,
    nodeIds: row.node_ids ?? [],
    diskIds: row.disk_ids ?? [],
    isUnplaced,
    rebuild: isMade ? 'running' : (row.rebuild ?? undefined),
    isHeld: row.held,
  };
}

function readPlace<Id>({ id, name, conditions }: PlaceRow<Id>): RiskPlace<Id> {
  return { id, name, since: conditionOf(readConditions(conditions), 'Ready')?.lastTransitionAt };
}
