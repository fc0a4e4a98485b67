/**
 * Takes over one agent's report, in one transaction and a fixed number of statements, whatever the node holds.
 *
 * Facts are stored and decisions are not made here. Only what changed is woken: a heartbeat that repeats the last one
 * wakes no volume. Heartbeats do not count versions up for facts that change all the time (free bytes, progress), so
 * that a reconciler is not sent back to its start for them.
 *
 * Locks: the node, then volumes, disks and replicas by id. A commit may hold them in another order; Postgres then ends
 * one of the two, and both are repeated.
 */
import type { HeartbeatStored } from '@holdfast/control/ports/store.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, NodeId } from '@holdfast/core/model/ids.js';
import { isRepeatable } from '@holdfast/core/policy/repeated-reports.js';
import { systemRandom } from '../clock-and-random.js';
import type { Sql } from '../sql/scope.js';
import type { HeartbeatContext } from './heartbeat-context.js';
import { storeAbsentCopies, storeDisks, storeReplicaUsage } from './heartbeat-disks.js';
import { storeEngines } from './heartbeat-engines.js';
import { storeNode } from './heartbeat-node.js';
import { storeOrphans } from './heartbeat-orphans.js';
import { storeRebuildProgress } from './heartbeat-rebuilds.js';
import { announceProgress, WakeUpSet, writeOutbox } from './wake-up-set.js';

export async function recordHeartbeat(
  sql: Sql,
  clusterId: ClusterId,
  heartbeat: Heartbeat,
  given: { at: Date | undefined; newNodeId: NodeId | undefined },
): Promise<HeartbeatStored & { refusal?: StorageFault }> {
  const touched = new WakeUpSet('safety');
  const now = await stampOf(sql, given.at);
  const { newNodeId } = given;
  const reportId = systemRandom.id();
  const stored = await storeNode(sql, clusterId, { heartbeat, now, touched, newNodeId, reportId });
  // Returned and not thrown, so that its event is kept.
  if (stored.refusal !== undefined) return stored;
  const { nodeId, rebooted } = stored;
  const context: HeartbeatContext = { sql, clusterId, nodeId, heartbeat, now, touched };
  const knownVolumes = await storeEngines(context, rebooted);
  const { wishes, stamps, known: disks, isEndingRows } = await storeDisks(context);
  await storeReplicaUsage(context);
  await storeAbsentCopies(context);
  await storeOrphans(context);
  const progressed = await storeRebuildProgress(context);
  await writeOutbox(sql, touched);
  await announceProgress(
    sql,
    progressed.filter((volumeId) => !touched.volumes.has(volumeId)),
  );
  // An id that was not sent can't be named.
  const report = { heartbeat, disks, confirmed: stamps, isEndingRows, knownVolumes };
  return { nodeId, disks: wishes, stamps, reportId: isRepeatable(report) ? reportId : undefined };
}

/** This server's time: machines that record heartbeats may have other ideas of it, and one in the future would outlive its node. */
async function stampOf(sql: Sql, given: Date | undefined): Promise<Date> {
  const { rows } = await sql.query<{ now: Date }>('SELECT now() AS now');
  const now = rows[0]?.now ?? new Date();
  return given === undefined || given > now ? now : given;
}
