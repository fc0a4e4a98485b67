import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type NodeId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '../clock-and-random.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import type { Sql } from '../sql/scope.js';
import type { Touched } from './touched.js';

type Report = { heartbeat: Heartbeat; now: Date; touched: Touched };

/**
 * Stores what the agent says of its node, and makes the node at its first contact.
 *
 * Whether a node is Ready is for the cluster's reconciler to say; it is woken when this heartbeat may change that.
 */
export async function storeNode(
  sql: Sql,
  clusterId: ClusterId,
  report: Report,
): Promise<{ nodeId: NodeId; rebooted: boolean }> {
  const { node } = report.heartbeat;
  const { rows } = await sql.query<NodeRow>(
    'SELECT * FROM node WHERE cluster_id = $1 AND name = $2 FOR UPDATE',
    [clusterId, node.name],
  );
  const row = rows[0];
  if (row === undefined) return { nodeId: await createNode(sql, clusterId, report), rebooted: true };

  const known = readNode(row);
  const rebooted = known.bootId !== node.bootId;
  await updateNode(sql, known.id, report);
  if (rebooted || conditionOf(known.conditions, 'Ready')?.status !== 'True')
    report.touched.cluster(clusterId);
  return { nodeId: known.id, rebooted };
}

async function createNode(
  sql: Sql,
  clusterId: ClusterId,
  { heartbeat, now, touched }: Report,
): Promise<NodeId> {
  const nodeId = asId<NodeId>(systemRandom.id());
  const { node } = heartbeat;
  const { rowCount } = await sql.query(
    `INSERT INTO node (id, organization_id, cluster_id, name, zone, region, reported_zone, reported_region,
       control_url, control_secret, nbd_host, nbd_port, boot_id, pid, agent_version, last_heartbeat_at, created_at)
     SELECT $2, c.organization_id, c.id, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13
     FROM cluster c WHERE c.id = $1`,
    [
      clusterId,
      nodeId,
      node.name,
      node.zone,
      node.region,
      node.controlUrl,
      node.controlSecret,
      node.nbdHost,
      node.nbdPort,
      node.bootId,
      node.pid,
      node.version,
      now,
    ],
  );
  if (rowCount === 0) {
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
  touched.cluster(clusterId);
  return nodeId;
}

/**
 * The agent's labels are taken over when they change, and not when people have changed them since. The version counts
 * the changes that decisions depend on; a mere sign of life is none.
 */
async function updateNode(sql: Sql, nodeId: NodeId, { heartbeat: { node }, now }: Report): Promise<void> {
  await sql.query(
    `UPDATE node SET
       zone = CASE WHEN reported_zone IS DISTINCT FROM $2 THEN $2 ELSE zone END, reported_zone = $2,
       region = CASE WHEN reported_region IS DISTINCT FROM $3 THEN $3 ELSE region END, reported_region = $3,
       control_url = $4, control_secret = $5, nbd_host = $6, nbd_port = $7, boot_id = $8, pid = $9,
       agent_version = $10, last_heartbeat_at = greatest(last_heartbeat_at, $11),
       version = version + CASE WHEN (reported_zone, reported_region, control_url, nbd_host, nbd_port, boot_id)
         IS DISTINCT FROM ($2::text, $3::text, $4::text, $6::text, $7::int, $8::uuid) THEN 1 ELSE 0 END
     WHERE id = $1`,
    [
      nodeId,
      node.zone,
      node.region,
      node.controlUrl,
      node.controlSecret,
      node.nbdHost,
      node.nbdPort,
      node.bootId,
      node.pid,
      node.version,
      now,
    ],
  );
}
