/** Where a cluster's replicas are and how they do, counted: a picture of ten thousand volumes in one answer. */
import type { ClusterId, DiskId, NodeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';

export type ReplicaCounts = {
  readonly disks: readonly { diskId: DiskId; total: number; failed: number; rebuilding: number }[];
  /** Volumes that each node serves. */
  readonly nodes: readonly { nodeId: NodeId; attached: number }[];
  readonly unplaced: number;
};

/**
 * Of what the caller may see. Reads every replica of the cluster once, by the indexes of its disks.
 *
 * @param nodeIds counts disks and nodes of these only; `undefined`: of the whole cluster
 */
export async function countReplicas(
  sql: Sql,
  clusterId: ClusterId,
  nodeIds: readonly NodeId[] | undefined,
): Promise<ReplicaCounts> {
  const among = [clusterId, nodeIds ?? null];
  const disks = await sql.query<ReplicaCounts['disks'][number]>(
    `SELECT d.id AS "diskId", count(*)::int AS total,
       (count(*) FILTER (WHERE r.failed_at IS NOT NULL AND r.mode IS DISTINCT FROM 'WO'))::int AS failed,
       (count(*) FILTER (WHERE r.mode = 'WO'))::int AS rebuilding
     FROM disk d JOIN replica r ON r.disk_id = d.id
     WHERE d.cluster_id = $1 AND ($2::uuid[] IS NULL OR d.node_id = ANY ($2)) GROUP BY d.id ORDER BY d.id`,
    among,
  );
  const nodes = await sql.query<ReplicaCounts['nodes'][number]>(
    `SELECT n.id AS "nodeId", count(*)::int AS attached
     FROM node n JOIN volume v ON v.attached_node_id = n.id
     WHERE n.cluster_id = $1 AND ($2::uuid[] IS NULL OR n.id = ANY ($2)) GROUP BY n.id ORDER BY n.id`,
    among,
  );
  const unplaced = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM volume v JOIN replica r ON r.volume_id = v.id
     WHERE v.cluster_id = $1 AND v.robustness <> 'healthy' AND r.disk_id IS NULL AND r.intent = 'keep'`,
    [clusterId],
  );
  return { disks: disks.rows, nodes: nodes.rows, unplaced: unplaced.rows[0]?.count ?? 0 };
}
