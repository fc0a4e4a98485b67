/** Facts of one cluster that alerts are found in. Each statement reads what there is for a node, a disk or a volume in trouble. */

import type { ClusterFacts, DiskFacts, NodeFacts, VolumeFacts } from '@holdfast/core/alerts/find-alerts.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { READY } from '../rows/readiness-sql.js';
import type { Sql } from '../sql/scope.js';

/** A larger count tells an operator nothing more. */
const VOLUMES_MAX = 5_000;

const IS_READY = `conditions @> ${READY}`;
/** Readiness condition of a node or disk. */
const SINCE_READY = `LEFT JOIN LATERAL jsonb_to_recordset(x.conditions)
  AS ready (type text, reason text, "lastTransitionAt" timestamptz) ON ready.type = 'Ready'`;

const NODES = `
  SELECT x.id, x.name, x.${IS_READY} AS "isReady", coalesce(ready."lastTransitionAt", x.created_at) AS since,
    i.certificate_not_after AS "certificateNotAfter",
    CASE WHEN x.${IS_READY} THEN 0 ELSE (SELECT count(*) FROM replica r WHERE r.node_id = x.id) END::int AS copies,
    CASE WHEN x.${IS_READY} THEN 0 ELSE (SELECT count(*) FROM volume v WHERE v.attached_node_id = x.id) END::int AS "volumesServed"
  FROM node x ${SINCE_READY} LEFT JOIN node_identity i ON i.node_id = x.id AND i.revoked_at IS NULL
  WHERE x.cluster_id = $1 AND x.last_heartbeat_at IS NOT NULL ORDER BY x.id`;

const DISKS = `
  SELECT x.id, x.name, x.node_id AS "nodeId", n.name AS "nodeName", x.${IS_READY} AS "isReady",
    coalesce(ready."lastTransitionAt", x.created_at) AS since, coalesce(ready.reason, '') AS reason,
    x.storage_maximum_bytes AS "maximumBytes", x.storage_available_bytes AS "availableBytes",
    CASE WHEN x.${IS_READY} THEN 0 ELSE (SELECT count(*) FROM replica r WHERE r.disk_id = x.id) END::int AS copies
  FROM disk x JOIN node n ON n.id = x.node_id ${SINCE_READY}
  WHERE x.cluster_id = $1 AND x.removal_requested_at IS NULL ORDER BY x.id`;

const VOLUMES = `
  SELECT v.number_of_replicas AS "wantedCopies", coalesce(v.last_degraded_at, v.created_at) AS since,
    (count(*) FILTER (WHERE r.healthy_at IS NOT NULL AND r.failed_at IS NULL))::int AS "fullCopies",
    coalesce(jsonb_agg(jsonb_build_object('nodeId', r.node_id, 'diskId', r.disk_id))
      FILTER (WHERE r.disk_id IS NOT NULL AND (r.healthy_at IS NULL OR r.failed_at IS NOT NULL)), '[]') AS "failedOn"
  FROM (SELECT * FROM volume WHERE cluster_id = $1 AND robustness IN ('degraded', 'faulted') ORDER BY id LIMIT ${VOLUMES_MAX}) v
  LEFT JOIN replica r ON r.volume_id = v.id
  GROUP BY v.id, v.number_of_replicas, v.last_degraded_at, v.created_at`;

const WITHOUT_PLACE = `
  SELECT count(*)::int AS copies, min(r.created_at) AS "oldestAt"
  FROM replica r JOIN volume v ON v.id = r.volume_id
  WHERE r.disk_id IS NULL AND v.cluster_id = $1 AND v.deletion_requested_at IS NULL`;

const WAITING = `SELECT count(*)::int AS rebuilds, min(queued_at) AS "oldestAt" FROM rebuild
  WHERE cluster_id = $1 AND state = 'queued'`;

const DIFFERING = `SELECT count(*)::int AS volumes, min(differs."lastTransitionAt") AS "oldestAt"
  FROM volume v CROSS JOIN LATERAL jsonb_to_recordset(v.conditions) AS differs (type text, status text, "lastTransitionAt" timestamptz)
  WHERE v.cluster_id = $1 AND v.conditions @> '[{"type":"CopiesDiffer","status":"True"}]' AND differs.type = 'CopiesDiffer'`;

const AUTHORITY = 'SELECT max(not_after) AS at FROM authority';

type Oldest = { oldestAt: Date | null };

export async function loadAlertFacts(
  sql: Sql,
  cluster: { id: ClusterId; name: string },
): Promise<ClusterFacts> {
  const list = async <Row extends object>(text: string) => (await sql.query<Row>(text, [cluster.id])).rows;
  type NodeRow = Omit<NodeFacts, 'certificateNotAfter'> & { certificateNotAfter: Date | null };
  const nodes = await list<NodeRow>(NODES);
  const disks = await list<DiskFacts>(DISKS);
  const volumes = await list<VolumeFacts>(VOLUMES);
  const [places] = await list<Oldest & { copies: number }>(WITHOUT_PLACE);
  const [waiting] = await list<Oldest & { rebuilds: number }>(WAITING);
  const [differing] = await list<Oldest & { volumes: number }>(DIFFERING);
  const [authority] = (await sql.query<{ at: Date | null }>(AUTHORITY)).rows;
  return {
    cluster,
    nodes: nodes.map((row) => ({ ...row, certificateNotAfter: row.certificateNotAfter ?? undefined })),
    disks,
    volumes,
    withoutPlace: { copies: places?.copies ?? 0, oldestAt: places?.oldestAt ?? undefined },
    waiting: { rebuilds: waiting?.rebuilds ?? 0, oldestAt: waiting?.oldestAt ?? undefined },
    differing: { volumes: differing?.volumes ?? 0, oldestAt: differing?.oldestAt ?? undefined },
    authorityNotAfter: authority?.at ?? undefined,
  };
}
