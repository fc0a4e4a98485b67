/** Disks in a heartbeat, as the memory store keeps them. The decisions are those of the store in Postgres. */

import { applyDiskReport, type DiskFacts } from '@holdfast/core/lifecycle/conclude-heartbeat.js';
import { holdsAcceptance, isSetBack } from '@holdfast/core/lifecycle/plan-set-back.js';
import type { DiskReport, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import { withCondition } from '@holdfast/core/model/condition.js';
import { duplicateRowId } from '@holdfast/core/model/disk-stamp.js';
import type { DiskId, NodeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk } from '@holdfast/core/model/node.js';
import { belowMountPoints } from '@holdfast/core/policy/below-mount-points.js';
import { diskEvent, diskRemovedNews } from '@holdfast/core/policy/disk-events.js';
import {
  duplicateReport,
  judgeArrival,
  judgeHolder,
  type Sender,
  setBackReport,
} from '@holdfast/core/policy/disk-identity.js';
import { diskDuplicatedNews, diskMovedNews, duplicatedMessage } from '@holdfast/core/policy/disk-move.js';
import { type DiskWishes, type SettledDisk, settledBy, wishesOf } from '@holdfast/core/policy/disk-wishes.js';
import { unreportedDisks } from '@holdfast/core/policy/unreported-disks.js';
import type { Report } from './heartbeat-report.js';
import type { Transaction } from './tables.js';

type Confirmed = NonNullable<HeartbeatReply['stamps']>;

export function storeDisks(
  transaction: Transaction,
  stored: Report,
): { wishes: DiskWishes | undefined; stamps: Confirmed } {
  const { disks } = transaction.tables;
  const { nodeId, heartbeat } = stored;
  const standing = new Set<string>();
  const arrivals = heartbeat.disks.map((report) => arrive(transaction, stored, report, standing));
  const duplicates = arrivals.flatMap(({ duplicate }) => duplicate ?? []);
  const stamps: Confirmed = [];
  const held = heartbeat.disks.map((report) => hold(transaction, stored, report, stamps));
  const effective = [...held, ...duplicates.map(({ report }) => report)];

  const ofNode = disks.by('node', nodeId);
  const settled = settledBy(effective, ofNode).filter(
    ({ disk, as }) => as !== 'single' || !standing.has(disk.id),
  );
  const ended = endDisks(transaction, stored, settled);
  const stays = ofNode.filter(({ id }) => !ended.has(id));
  const visible = belowMountPoints(effective, stays);
  for (const report of [...visible, ...unreportedDisks(visible, stays)]) {
    storeDisk(transaction, stored, report);
  }
  for (const report of duplicates) tellDuplicate(transaction, stored, report);
  const single = settled.flatMap(({ disk }) => disk.duplicateOf ?? []);
  for (const id of [...single, ...arrivals.flatMap(({ moved }) => moved ?? [])])
    endDuplicate(transaction, id);
  return { wishes: wishesOf(stays), stamps };
}

/** The disk as it is judged: a user's acceptance counts once no copy on it blocks that. */
function acceptedAs({ tables }: Transaction, disk: StorageDisk): StorageDisk {
  if (disk.acceptedNodeId === undefined) return disk;
  const isHeldUp = tables.replicas.by('disk', disk.id).some((replica) => {
    const others = tables.replicas.by('volume', replica.volumeId).filter(({ id }) => id !== replica.id);
    return holdsAcceptance(replica, others, ({ diskId }) =>
      isSetBack(diskId === undefined ? undefined : tables.disks.get(diskId)),
    );
  });
  return isHeldUp ? { ...disk, acceptedNodeId: undefined } : disk;
}

function senderOf({ nodeId, heartbeat, now }: Report): Sender {
  return { nodeId, bootId: heartbeat.node.bootId, now };
}

type Duplicate = { readonly report: DiskReport; readonly of: DiskId };

/** Takes over a disk that has moved to this node, with its replicas; tells a second one of its identity apart. */
function arrive(
  transaction: Transaction,
  stored: Report,
  report: DiskReport,
  standing: Set<string>,
): { moved?: DiskId; duplicate?: Duplicate } {
  const { disks, nodes, replicas } = transaction.tables;
  const { clusterId, nodeId } = stored;
  const disk = disks.get(report.diskId);
  const from = disk === undefined ? undefined : nodes.get(disk.nodeId);
  if (disk === undefined || disk.nodeId === nodeId || from?.clusterId !== clusterId) return {};
  // Simulated agents report the truth.
  const facts = {
    disk: acceptedAs(transaction, disk),
    from,
    replicas: replicas.by('disk', disk.id),
    isProven: true,
  };
  const verdict = judgeArrival(facts, report, senderOf(stored));
  if (verdict.kind === 'moved') {
    adopt(transaction, stored, disk, from.name);
    return { moved: disk.id };
  }
  if (verdict.rivals !== undefined) transaction.put(disks, disk.id, { ...disk, rivals: verdict.rivals });
  if (report.ready) standing.add(duplicateRowId(disk.id, nodeId));
  if (verdict.kind === 'waits') return {};
  return {
    duplicate: { report: duplicateReport(report, verdict.message, senderOf(stored)), of: disk.id },
  };
}

function adopt(transaction: Transaction, stored: Report, disk: StorageDisk, from: string): void {
  const { disks, replicas } = transaction.tables;
  const { clusterId, nodeId, now, heartbeat } = stored;
  const asSecond = duplicateRowId(disk.id, nodeId);
  if (disks.has(asSecond)) transaction.remove(disks, asSecond);
  transaction.put(disks, disk.id, { ...disk, nodeId, rivals: undefined, version: disk.version + 1 });
  for (const replica of replicas.by('disk', disk.id)) {
    transaction.put(replicas, replica.id, { ...replica, nodeId, version: replica.version + 1 });
    transaction.touchVolume(replica.volumeId);
  }
  const news = diskMovedNews(disk.name, from, heartbeat.node.name);
  transaction.event(diskEvent(clusterId, disk, news, now));
  transaction.touchCluster(clusterId);
}

/** Judges a disk that is this node's, or new, and keeps its stamp. */
function hold(
  transaction: Transaction,
  stored: Report,
  report: DiskReport,
  confirmed: Confirmed,
): DiskReport {
  const { disks } = transaction.tables;
  const disk = disks.get(report.diskId);
  if (report.stamp === undefined || !report.ready) return report;
  if (disk !== undefined && disk.nodeId !== stored.nodeId) return report;
  const known = disk === undefined ? {} : acceptedAs(transaction, disk);
  const verdict = judgeHolder(known, report.stamp, senderOf(stored));
  if (verdict.kind === 'set-back') return setBackReport(report, verdict.message);
  const isStored = verdict.kind === 'stored';
  if (isStored) {
    if (disk === undefined) storeDisk(transaction, stored, report);
    const row = disks.get(report.diskId);
    if (row !== undefined) {
      transaction.put(disks, row.id, { ...row, stamp: verdict.stamp, acceptedNodeId: undefined });
    }
  }
  if (isStored || verdict.isConfirmed) confirmed.push({ diskId: report.diskId, stampId: report.stamp.id });
  return report;
}

/** Deletes the rows that the report ends. One with a booking stays: its bookings have to go first. */
function endDisks(
  transaction: Transaction,
  { clusterId, heartbeat, now }: Report,
  settled: readonly SettledDisk[],
): Set<DiskId> {
  const ended = new Set<DiskId>();
  for (const { disk, as } of settled) {
    if (disk.storageScheduledBytes > 0) continue;
    ended.add(disk.id);
    transaction.remove(transaction.tables.disks, disk.id);
    transaction.touchCluster(clusterId);
    if (as !== 'removed' || disk.duplicateOf !== undefined) continue;
    transaction.event(diskEvent(clusterId, disk, diskRemovedNews(disk, heartbeat.node.name), now));
  }
  return ended;
}

function storeDisk(transaction: Transaction, stored: Report, report: DiskReport): void {
  const { clusterId, nodeId, now } = stored;
  const { disks } = transaction.tables;
  const id = report.diskId;
  const known = disks.get(id);
  if (known !== undefined && known.nodeId !== nodeId) return;
  const news = applyDiskReport(known, report, now);
  if (news === undefined) return;
  const { facts, isCounted, concernsCluster, concernsReplicas, told } = news;
  const row = known ?? newDisk(id, nodeId, facts);
  transaction.put(disks, id, { ...row, ...facts, version: row.version + (isCounted ? 1 : 0) });
  if (told !== undefined) transaction.event(diskEvent(clusterId, { id }, told, now));
  if (concernsCluster) transaction.touchCluster(clusterId);
  if (!concernsReplicas) return;
  for (const { volumeId } of transaction.tables.replicas.by('disk', id)) transaction.touchVolume(volumeId);
}

function newDisk(id: DiskId, nodeId: NodeId, facts: DiskFacts): StorageDisk {
  return {
    id,
    nodeId,
    tags: [],
    allowScheduling: true,
    evictionRequested: false,
    storageReservedBytes: 0,
    storageScheduledBytes: 0,
    writtenBytes: 0,
    version: 1,
    ...facts,
  };
}

/** Says of the disk that is in use that there is a second one, and links its row to it. */
function tellDuplicate(
  transaction: Transaction,
  { clusterId, heartbeat, now }: Report,
  { report, of }: Duplicate,
): void {
  const { disks } = transaction.tables;
  const [row, used] = [disks.get(report.diskId), disks.get(of)];
  if (row !== undefined && row.duplicateOf === undefined) {
    transaction.put(disks, row.id, { ...row, duplicateOf: of });
  }
  if (used === undefined || used.conditions.some(({ type }) => type === 'Unique')) return;
  const message = duplicatedMessage(heartbeat.node.name, report.path);
  const said = { type: 'Unique' as const, status: 'False' as const, reason: 'DuplicateDisk', message };
  const conditions = withCondition(used.conditions, said, now);
  transaction.put(disks, of, { ...used, conditions, version: used.version + 1 });
  const news = diskDuplicatedNews(used.name, heartbeat.node.name, report.path);
  transaction.event(diskEvent(clusterId, used, news, now));
  transaction.touchCluster(clusterId);
}

/** Takes back what the disk that is in use says of a second one, once no row of one is left. */
function endDuplicate(transaction: Transaction, id: DiskId): void {
  const { tables } = transaction;
  const used = tables.disks.get(id);
  if (used === undefined || [...tables.disks.values()].some(({ duplicateOf }) => duplicateOf === id)) return;
  const conditions = used.conditions.filter(({ type }) => type !== 'Unique');
  if (conditions.length === used.conditions.length) return;
  transaction.put(tables.disks, id, { ...used, conditions, version: used.version + 1 });
}
