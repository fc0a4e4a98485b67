import { livesBefore } from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type ClusterId, type NodeId } from '@holdfast/core/model/ids.js';
import {
  type AgentVerdict,
  judgeAgent,
  nameTaken,
  refuseForgotten,
} from '@holdfast/core/policy/agent-identity.js';
import { refuseAgentVersion } from '@holdfast/core/policy/agent-version.js';
import { isUnanswering } from '@holdfast/core/policy/node-liveness.js';
import { systemRandom } from '../clock-and-random.js';
import { type NodeRow, readNode } from '../rows/node-row.js';
import type { Sql } from '../sql/scope.js';
import { insertEvent } from './events.js';
import { storeFanOut } from './fan-out.js';
import { loadListening } from './listening.js';
import { loadSettings } from './load-views.js';
import { announceNode, type WakeUpSet } from './wake-up-set.js';

type Report = {
  heartbeat: Heartbeat;
  now: Date;
  touched: WakeUpSet;
  newNodeId: NodeId | undefined;
  /** Names this report from now on. */
  reportId: string;
};

type Stored = { nodeId: NodeId; rebooted: boolean; refusal?: StorageFault };

/** Facts about a node's agent that only the store knows. */
type AgentRow = NodeRow & {
  control_secret: string | null;
  past_boot_ids: string[] | null;
  refused_boot_id: string | null;
  oldest_protocol: number | null;
  unanswered_at: Date | null;
};

/**
 * Stores what the agent says of its node, and makes the node at its first contact.
 *
 * Whether a node is Ready is for the cluster's reconciler to say; it is woken when this heartbeat may change that.
 */
export async function storeNode(sql: Sql, clusterId: ClusterId, report: Report): Promise<Stored> {
  const { node } = report.heartbeat;
  const { rows } = await sql.query<AgentRow>(
    `SELECT *, (SELECT agent_protocol FROM version_floor) AS oldest_protocol
     FROM node WHERE cluster_id = $1 AND name = $2 FOR UPDATE`,
    [clusterId, node.name],
  );
  const row = rows[0];
  // A node that is not known yet has joined before, where the oldest version that is heard counted too.
  const isForgotten = row !== undefined && row.forget !== null;
  const unfit =
    refuseAgentVersion(node.name, node.protocol, row?.oldest_protocol ?? undefined) ??
    (isForgotten ? refuseForgotten(node.name) : undefined);
  if (unfit !== undefined) {
    const { code, why, cures } = unfit;
    return refuse(sql, row, report, new StorageFault(code, { publicMessage: why, cures }));
  }
  // Later notes may concern a change that the statements below do not see.
  if (row !== undefined) await sql.query('DELETE FROM stale_report WHERE node_id = $1', [row.id]);
  if (row === undefined) return { nodeId: await createNode(sql, clusterId, report), rebooted: true };

  const known = readNode(row);
  const verdict = await judge(sql, row, report);
  if (verdict === 'refused') {
    const publicMessage = nameTaken(node.name, { controlUrl: row.control_url ?? undefined });
    return refuse(sql, row, report, new StorageFault('node.name_taken', { publicMessage }));
  }
  await updateNode(sql, known.id, report);
  if (isUnanswering(known, row.unanswered_at ?? undefined)) await announceNode(sql, known.id);
  const rebooted = verdict === 'new-life';
  if (rebooted) {
    await rememberLife(sql, row);
    await storeFanOut(sql, clusterId, { kind: 'node', id: known.id });
  }
  if (rebooted || conditionOf(known.conditions, 'Ready')?.status !== 'True')
    report.touched.cluster(clusterId);
  return { nodeId: known.id, rebooted };
}

async function judge(sql: Sql, row: AgentRow, { heartbeat, now }: Report): Promise<AgentVerdict> {
  const { bootId, controlUrl, lastHeartbeatAt } = readNode(row);
  if (bootId === heartbeat.node.bootId) return 'same';
  const { settings } = await loadSettings(sql, row.cluster_id);
  const listening = await loadListening(sql, row.cluster_id);
  const known = {
    bootId,
    controlUrl,
    controlSecret: row.control_secret ?? undefined,
    pastBootIds: row.past_boot_ids ?? [],
    lastHeartbeatAt,
  };
  const timeoutSeconds = settings['agent-heartbeat-timeout'];
  return judgeAgent(known, heartbeat.node, { now, since: listening?.since, timeoutSeconds });
}

/**
 * One event for each agent that is refused: it asks again every few seconds.
 *
 * @throws the refusal where there is no node that an event could be about
 */
async function refuse(
  sql: Sql,
  row: AgentRow | undefined,
  { heartbeat: { node }, now }: Report,
  refusal: StorageFault,
): Promise<Stored> {
  if (row === undefined) throw refusal;
  if (row.refused_boot_id !== node.bootId) {
    await sql.query('UPDATE node SET refused_boot_id = $2 WHERE id = $1', [row.id, node.bootId]);
    await insertEvent(sql, {
      clusterId: row.cluster_id,
      type: 'AgentRefused',
      subject: { kind: 'node', id: row.id },
      volumeId: undefined,
      message: `the agent at ${node.controlUrl} is refused: ${refusal.message}`,
      at: now,
    });
  }
  return { nodeId: row.id, rebooted: false, refusal };
}

async function rememberLife(sql: Sql, { id, boot_id, past_boot_ids }: AgentRow): Promise<void> {
  const past = livesBefore(boot_id ?? undefined, past_boot_ids ?? []);
  await sql.query('UPDATE node SET past_boot_ids = $2::uuid[], refused_boot_id = NULL WHERE id = $1', [
    id,
    past,
  ]);
}

async function createNode(
  sql: Sql,
  clusterId: ClusterId,
  { heartbeat, now, touched, newNodeId, reportId }: Report,
): Promise<NodeId> {
  const nodeId = newNodeId ?? asId<NodeId>(systemRandom.id());
  const { node } = heartbeat;
  const { rowCount } = await sql.query(
    `INSERT INTO node (id, organization_id, cluster_id, name, zone, region, reported_zone, reported_region,
       control_url, control_secret, nbd_host, nbd_port, boot_id, pid, agent_version, last_heartbeat_at, created_at,
       agent_protocol, report_id)
     SELECT $2, c.organization_id, c.id, $3, $4, $5, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $13, $14, $15
     FROM cluster c WHERE c.id = $1`,
    [clusterId, nodeId, node.name, ...reportedValues(node, now), reportId],
  );
  if (rowCount === 0) {
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
  touched.cluster(clusterId);
  return nodeId;
}

/**
 * The agent's labels are taken over when they change, and not when users have changed them since. The version counts
 * the changes that decisions depend on; a mere sign of life is none.
 */
async function updateNode(
  sql: Sql,
  nodeId: NodeId,
  { heartbeat: { node }, now, reportId }: Report,
): Promise<void> {
  await sql.query(
    `UPDATE node SET
       zone = CASE WHEN reported_zone IS DISTINCT FROM $2 THEN $2 ELSE zone END, reported_zone = $2,
       region = CASE WHEN reported_region IS DISTINCT FROM $3 THEN $3 ELSE region END, reported_region = $3,
       control_url = $4, control_secret = $5, nbd_host = $6, nbd_port = $7, boot_id = $8, pid = $9,
       agent_version = $10, agent_protocol = $12, report_id = $13,
       last_heartbeat_at = CASE WHEN last_heartbeat_at > now() THEN $11 ELSE greatest(last_heartbeat_at, $11) END,
       version = version + CASE WHEN (reported_zone, reported_region, control_url, nbd_host, nbd_port, boot_id)
         IS DISTINCT FROM ($2::text, $3::text, $4::text, $6::text, $7::int, $8::uuid) THEN 1 ELSE 0 END
     WHERE id = $1`,
    [nodeId, ...reportedValues(node, now), reportId],
  );
}

/** Values of the columns that each heartbeat sets, in the order of both statements. */
function reportedValues(node: Heartbeat['node'], now: Date) {
  const { zone, region, controlUrl, controlSecret, nbdHost, nbdPort, bootId, pid, version, protocol } = node;
  const reported = [zone, region, controlUrl, controlSecret, nbdHost, nbdPort, bootId, pid, version];
  return [...reported, now, protocol ?? null];
}
