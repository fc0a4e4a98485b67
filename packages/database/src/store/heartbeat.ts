/**
 * Takes over one agent's report, in one transaction and a fixed number of statements, whatever the node holds.
 *
 * Facts are stored and decisions are not made here. Only what changed is woken: a heartbeat that repeats the last one
 * wakes nobody. Heartbeats do not count versions up for facts that change all the time (free bytes, progress), so
 * that a reconciler is not sent back to its start for them.
 *
 * Locks: the node, then volumes, disks and replicas by id. A commit may hold them in another order; Postgres then ends
 * one of the two, and both are repeated.
 */
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import type { HeartbeatContext } from './heartbeat-context.js';
import { storeDisks, storeReplicaUsage } from './heartbeat-disks.js';
import { storeEngines } from './heartbeat-engines.js';
import { storeNode } from './heartbeat-node.js';
import { storeOrphans } from './heartbeat-orphans.js';
import { storeRebuildProgress } from './heartbeat-rebuilds.js';
import { announceProgress, Touched, writeOutbox } from './touched.js';

export async function recordHeartbeat(
  sql: Sql,
  clusterId: ClusterId,
  heartbeat: Heartbeat,
  now: Date,
): Promise<{ nodeId: NodeId }> {
  const touched = new Touched();
  const { nodeId, rebooted } = await storeNode(sql, clusterId, { heartbeat, now, touched });
  const context: HeartbeatContext = { sql, clusterId, nodeId, heartbeat, now, touched };
  await storeEngines(context, rebooted);
  await storeDisks(context);
  await storeReplicaUsage(context);
  await storeOrphans(context);
  const progressed = await storeRebuildProgress(context);
  await writeOutbox(sql, touched);
  await announceProgress(
    sql,
    progressed.filter((volumeId) => !touched.volumes.has(volumeId)),
  );
  return { nodeId };
}
