import type { HeartbeatStored } from '@holdfast/control/ports/store.js';
import {
  engineSignature,
  livesBefore,
  percentAfterReport,
} from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import type { EngineReport, Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, type NodeId, type RebuildId } from '@holdfast/core/model/ids.js';
import { speaksFor, type Volume } from '@holdfast/core/model/volume.js';
import { afterReboot, holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { judgeAgent, nameTaken, refuseForgotten } from '@holdfast/core/policy/agent-identity.js';
import { refuseAgentVersion } from '@holdfast/core/policy/agent-version.js';
import { isListed } from '@holdfast/core/policy/unreported-copies.js';
import { writtenOn } from './apply-change.js';
import { storeDisks } from './heartbeat-disks.js';
import type { Report } from './heartbeat-report.js';
import { storeOrphans } from './orphans.js';
import { type NodeRow, observationKey, type Transaction } from './tables.js';

type HeardAt = { heartbeat: Heartbeat; now: Date };

/** Stores an agent's report. Facts only: the reconcilers decide the consequences. */
export function storeHeartbeat(
  transaction: Transaction,
  report: Omit<Report, 'nodeId'> & { newId: () => string; newNodeId: NodeId | undefined },
): HeartbeatStored & { refusal?: StorageFault } {
  const { clusterId, heartbeat, now, newId, newNodeId } = report;
  if (!transaction.tables.clusters.has(clusterId)) {
    throw new StorageFault('cluster.not_found', { publicMessage: `there is no cluster ${clusterId}` });
  }
  const known = transaction.tables.nodes
    .by('name', heartbeat.node.name)
    .find((node) => node.clusterId === clusterId);
  const nodeId = known?.id ?? newNodeId ?? asId<NodeId>(newId());
  const refusal = refusalOf(transaction, known, { heartbeat, now });
  if (refusal !== undefined) {
    if (known === undefined) throw refusal;
    tellRefusal(transaction, known, { heartbeat, now }, refusal);
    return { nodeId, refusal };
  }
  const rebooted = storeNode(transaction, { clusterId, nodeId, heartbeat, now }, known);
  const stored = { clusterId, nodeId, heartbeat, now };
  if (rebooted) withdrawAddresses(transaction, nodeId);
  storeEngines(transaction, stored);
  const { wishes, stamps } = storeDisks(transaction, stored);
  storeUsage(transaction, stored);
  storeAbsence(transaction, stored);
  storeOrphans(transaction, stored, newId);
  storeProgress(transaction, stored);
  return { nodeId, disks: wishes, stamps };
}

function isSecond({ tables }: Transaction, known: NodeRow, { heartbeat, now }: HeardAt): boolean {
  const timeoutSeconds = tables.clusters.get(known.clusterId)?.settings['agent-heartbeat-timeout'] ?? 0;
  return judgeAgent(known, heartbeat.node, { now, since: undefined, timeoutSeconds }) === 'refused';
}

function refusalOf(
  transaction: Transaction,
  known: NodeRow | undefined,
  heard: HeardAt,
): StorageFault | undefined {
  const { name, protocol } = heard.heartbeat.node;
  const unfit =
    refuseAgentVersion(name, protocol, undefined) ??
    (known?.forget === undefined ? undefined : refuseForgotten(name));
  if (unfit !== undefined)
    return new StorageFault(unfit.code, { publicMessage: unfit.why, cures: unfit.cures });
  if (known === undefined || !isSecond(transaction, known, heard)) return undefined;
  return new StorageFault('node.name_taken', { publicMessage: nameTaken(name, known) });
}

function tellRefusal(
  transaction: Transaction,
  known: NodeRow,
  { heartbeat: { node }, now }: HeardAt,
  refusal: StorageFault,
): void {
  if (known.refusedBootId !== node.bootId) {
    transaction.put(transaction.tables.nodes, known.id, { ...known, refusedBootId: node.bootId });
    transaction.event({
      clusterId: known.clusterId,
      type: 'AgentRefused',
      subject: { kind: 'node', id: known.id },
      volumeId: undefined,
      message: `the agent at ${node.controlUrl} is refused: ${refusal.message}`,
      at: now,
    });
  }
}

/** Returns whether the agent has been started anew. */
function storeNode(transaction: Transaction, report: Report, known: NodeRow | undefined): boolean {
  const { tables } = transaction;
  const { heartbeat, now } = report;
  const rebooted = known?.bootId !== heartbeat.node.bootId;
  const before = known ?? newNode(report);
  const zone = heartbeat.node.zone ?? undefined;
  const region = heartbeat.node.region ?? undefined;
  const row: NodeRow = {
    ...before,
    zone: before.reportedZone === zone ? before.zone : zone,
    region: before.reportedRegion === region ? before.region : region,
    reportedZone: zone,
    reportedRegion: region,
    controlUrl: heartbeat.node.controlUrl,
    controlSecret: heartbeat.node.controlSecret,
    nbdHost: heartbeat.node.nbdHost,
    nbdPort: heartbeat.node.nbdPort,
    bootId: heartbeat.node.bootId,
    ...(rebooted
      ? { pastBootIds: livesBefore(known?.bootId, known?.pastBootIds ?? []), refusedBootId: undefined }
      : {}),
    lastHeartbeatAt: now,
    version: before.version + (known !== undefined && rebooted ? 1 : 0),
  };
  transaction.put(tables.nodes, row.id, row);
  if (rebooted || conditionOf(before.conditions, 'Ready')?.status !== 'True') {
    transaction.touchCluster(report.clusterId);
  }
  if (known !== undefined && rebooted) transaction.fanOut(report.clusterId, 'node', row.id);
  return rebooted;
}

function newNode({ clusterId, nodeId, heartbeat }: Report): NodeRow {
  return {
    id: nodeId,
    clusterId,
    name: heartbeat.node.name,
    zone: heartbeat.node.zone ?? undefined,
    region: heartbeat.node.region ?? undefined,
    tags: [],
    allowScheduling: true,
    cordoned: false,
    evictionRequested: false,
    maintenance: undefined,
    drain: undefined,
    drainStatus: undefined,
    conditions: [],
    controlUrl: undefined,
    nbdHost: undefined,
    nbdPort: undefined,
    bootId: undefined,
    lastHeartbeatAt: undefined,
    version: 1,
    pastBootIds: [],
    refusedBootId: undefined,
    controlSecret: heartbeat.node.controlSecret,
    reportedZone: heartbeat.node.zone ?? undefined,
    reportedRegion: heartbeat.node.region ?? undefined,
  };
}

function withdrawAddresses(transaction: Transaction, nodeId: NodeId): void {
  const { volumes } = transaction.tables;
  for (const volume of volumes.by('holder', nodeId)) {
    if (volume.lifecycle.state !== 'attached') continue;
    const withdrawn = { lifecycle: afterReboot(volume.lifecycle), version: volume.version + 1 };
    transaction.put(volumes, volume.id, { ...volume, ...withdrawn });
    transaction.touchVolume(volume.id);
  }
}

function storeEngines(transaction: Transaction, { nodeId, heartbeat, now }: Report): void {
  const { observations, volumes } = transaction.tables;
  const reported = new Set(heartbeat.engines.map(({ volumeId }) => volumeId));
  for (const { volumeId } of observations.by('node', nodeId)) {
    if (reported.has(volumeId)) continue;
    transaction.remove(observations, observationKey(volumeId, nodeId));
    transaction.touchVolume(volumeId);
  }
  for (const report of heartbeat.engines) {
    const volume = volumes.get(report.volumeId);
    if (volume === undefined) continue;
    const key = observationKey(volume.id, nodeId);
    const before = observations.get(key);
    const { bootId } = heartbeat.node;
    // The very report of before was said again: when the agent was heard is in its node's row.
    const isSame = before?.bootId === bootId && before.report === report;
    if (!isSame) transaction.put(observations, key, { volumeId: volume.id, nodeId, bootId, at: now, report });
    const isNews =
      before?.bootId !== bootId || (!isSame && engineSignature(before.report) !== engineSignature(report));
    if (isNews) transaction.touchVolume(volume.id);
    if (holderOf(volume) === nodeId && speaksFor(report, volume)) {
      storeWrittenBytes(transaction, volume, report);
    }
  }
}

function storeWrittenBytes(transaction: Transaction, volume: Volume, report: EngineReport): void {
  const { volumes } = transaction.tables;
  if (volume.writtenBytes !== report.writtenBytes) {
    transaction.put(volumes, volume.id, { ...volume, writtenBytes: report.writtenBytes });
  }
}

/** Which replicas on disks that the report lists in full it does not name, and since when. */
function storeAbsence(transaction: Transaction, { nodeId, heartbeat, now }: Report): void {
  const { replicas } = transaction.tables;
  const listed = new Set(heartbeat.disks.flatMap((disk) => (isListed(disk) ? [disk.diskId] : [])));
  const reported = new Set(heartbeat.replicas.map(({ replicaId }) => replicaId));
  for (const replica of replicas.by('node', nodeId)) {
    if (!replica.provisioned || replica.diskId === undefined || !listed.has(replica.diskId)) continue;
    if (reported.has(replica.id) === (replica.unreportedSince === undefined)) continue;
    const unreportedSince = reported.has(replica.id) ? undefined : now;
    transaction.put(replicas, replica.id, { ...replica, unreportedSince });
    transaction.touchVolume(replica.volumeId);
  }
}

function storeUsage(transaction: Transaction, { nodeId, heartbeat }: Report): void {
  const { replicas, disks } = transaction.tables;
  const changed = new Set<DiskId>();
  for (const { replicaId, writtenBytes } of heartbeat.replicas) {
    const replica = replicas.get(replicaId);
    if (replica === undefined || replica.nodeId !== nodeId || replica.writtenBytes === writtenBytes) continue;
    transaction.put(replicas, replica.id, { ...replica, writtenBytes });
    if (replica.diskId !== undefined) changed.add(replica.diskId);
  }
  for (const diskId of changed) {
    const disk = disks.get(diskId);
    if (disk === undefined) continue;
    transaction.put(disks, diskId, { ...disk, writtenBytes: writtenOn(transaction, diskId) });
  }
}

function storeProgress(transaction: Transaction, { nodeId, heartbeat }: Report): void {
  const { rebuilds, volumes } = transaction.tables;
  for (const report of heartbeat.engines.flatMap((engine) => engine.rebuilds)) {
    const row = rebuilds.get(asId<RebuildId>(report.rebuildId));
    if (row?.state !== 'running' || !isHeldBy(volumes.get(row.volumeId), nodeId)) continue;
    const { phase, bytes, rateBytesPerSecond, snapshots } = report;
    const percent = percentAfterReport(report, row.percent);
    transaction.put(rebuilds, row.id, { ...row, phase, bytes, rateBytesPerSecond, snapshots, percent });
  }
}

function isHeldBy(volume: Volume | undefined, nodeId: NodeId): boolean {
  return volume !== undefined && holderOf(volume) === nodeId;
}
