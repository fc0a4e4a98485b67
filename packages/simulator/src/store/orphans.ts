/** Orphans in memory, with the semantics of Postgres. */
import {
  type Change,
  type CommitGuard,
  type FoundCopiesOf,
  ORPHANS_OF_NODE_MAX,
  type OrphanInContext,
} from '@holdfast/control/ports/store.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import {
  asId,
  type ClusterId,
  compareIds,
  type DiskId,
  type NodeId,
  type OrphanId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { Orphan } from '@holdfast/core/model/orphan.js';
import { conflict, type Tables, type Transaction } from './tables.js';

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;
type Report = { clusterId: ClusterId; nodeId: NodeId; heartbeat: Heartbeat; now: Date };

/** See `Store.recordHeartbeat`. */
export function storeOrphans(
  transaction: Transaction,
  { clusterId, nodeId, heartbeat, now }: Report,
  newId: () => string,
): void {
  const { tables } = transaction;
  const usable = new Set<DiskId>();
  for (const { diskId, ready } of heartbeat.disks)
    if (ready && tables.disks.get(diskId)?.nodeId === nodeId) usable.add(diskId);
  const isUsable = (diskId: DiskId) => usable.has(diskId);
  const reports = heartbeat.replicas.filter(({ diskId }) => isUsable(diskId));
  const known = tables.orphans.by('node', nodeId);
  for (const orphan of known) {
    const isReported = reports.some((report) => isThatOf(orphan, report));
    if (isUsable(orphan.diskId) && (!isReported || tables.replicas.has(orphan.replicaId)))
      transaction.remove(tables.orphans, orphan.id);
  }
  let room = ORPHANS_OF_NODE_MAX - known.length;
  const ordered = [...reports].sort((a, b) => compareIds(a.volumeId, b.volumeId));
  for (const report of ordered) {
    if (tables.replicas.has(report.replicaId)) continue;
    const before = known.find((orphan) => isThatOf(orphan, report));
    const { writtenBytes } = report;
    const record = report.record ?? undefined;
    if (before !== undefined) {
      const isSame = JSON.stringify(before.record) === JSON.stringify(record);
      const description = isSame ? before.description : undefined;
      transaction.put(tables.orphans, before.id, { ...before, writtenBytes, record, description });
    }
    if (before !== undefined || room <= 0) continue;
    room -= 1;
    const orphan: Orphan = {
      id: asId<OrphanId>(newId()),
      clusterId,
      nodeId,
      diskId: report.diskId,
      replicaId: report.replicaId,
      volumeId: report.volumeId,
      writtenBytes,
      record,
      firstSeenAt: now,
      announcedAt: undefined,
      removal: undefined,
      version: 1,
    };
    transaction.put(tables.orphans, orphan.id, orphan);
  }
}

function isThatOf(orphan: Orphan, report: Heartbeat['replicas'][number]): boolean {
  return orphan.diskId === report.diskId && orphan.replicaId === report.replicaId;
}

/** A replica that gets the id of an orphan takes it over, unless that may be on its way out. */
export function takeOverOrphan(transaction: Transaction, replicaId: ReplicaId): void {
  const { orphans } = transaction.tables;
  for (const orphan of [...orphans.values()]) {
    if (orphan.replicaId !== replicaId) continue;
    if (orphan.removal?.claimedAt !== undefined) throw conflict(`copy ${replicaId} is being removed`);
    transaction.remove(orphans, orphan.id);
  }
}

export function patchOrphan(
  transaction: Transaction,
  { orphanId, patch }: ChangeOf<'orphan.patch'>,
  guard: CommitGuard,
): void {
  const { orphans, replicas } = transaction.tables;
  const row = orphans.get(orphanId);
  if (row === undefined) throw conflict(`orphan ${orphanId} is gone`);
  if (patch.removal?.claimedAt !== undefined && replicas.has(row.replicaId)) {
    throw conflict(`a replica has the id of orphan ${orphanId}`);
  }
  const isCounted = guard.kind === 'orphan' && guard.orphanId === orphanId;
  transaction.put(orphans, orphanId, { ...row, ...patch, version: row.version + (isCounted ? 0 : 1) });
  transaction.touchCluster(row.clusterId);
}

export function deleteOrphan(transaction: Transaction, { orphanId }: ChangeOf<'orphan.delete'>): void {
  const { orphans } = transaction.tables;
  const row = orphans.get(orphanId);
  if (row === undefined) throw conflict(`orphan ${orphanId} is gone`);
  transaction.remove(orphans, orphanId);
  transaction.touchCluster(row.clusterId);
}

export function orphansOf(tables: Tables, clusterId: ClusterId, limit: number): OrphanInContext[] {
  const rank = ({ removal, announcedAt, description }: Orphan) =>
    (removal?.by === 'person' ? 0 : 4) +
    (announcedAt === undefined ? 0 : 2) +
    (description === undefined ? 0 : 1);
  return [...tables.orphans.values()]
    .filter((orphan) => orphan.clusterId === clusterId)
    .sort(
      (a, b) =>
        rank(a) - rank(b) || a.firstSeenAt.getTime() - b.firstSeenAt.getTime() || compareIds(a.id, b.id),
    )
    .map((orphan) => inContext(tables, orphan))
    .filter(({ isReachable }) => isReachable)
    .slice(0, limit);
}

/** See `Store.loadFoundCopies`. */
export function foundCopies(tables: Tables, clusterId: ClusterId, of: FoundCopiesOf): OrphanInContext[] {
  const announced = [...tables.orphans.values()]
    .filter((orphan) => orphan.clusterId === clusterId && orphan.announcedAt !== undefined)
    .sort(
      (a, b) =>
        compareIds(a.volumeId, b.volumeId) || compareIds(a.replicaId, b.replicaId) || compareIds(a.id, b.id),
    );
  const ids = [...new Set(announced.map(({ volumeId }) => volumeId))];
  const { after } = 'volumeId' in of ? { after: undefined } : of;
  const wanted = new Set(
    'volumeId' in of
      ? [of.volumeId]
      : ids.filter((id) => after === undefined || compareIds(id, after) > 0).slice(0, of.limit),
  );
  return announced
    .filter(({ volumeId }) => wanted.has(volumeId))
    .map((orphan) => ({ ...inContext(tables, orphan), deletedAt: deletionOf(tables, orphan.volumeId) }));
}

function deletionOf({ events }: Tables, volumeId: VolumeId): Date | undefined {
  return events.findLast((event) => event.type === 'VolumeDeleted' && event.volumeId === volumeId)?.at;
}

export function inContext(tables: Tables, orphan: Orphan): OrphanInContext {
  const node = tables.nodes.get(orphan.nodeId);
  const disk = tables.disks.get(orphan.diskId);
  const volume = tables.volumes.get(orphan.volumeId);
  const isReady = (of: typeof node | typeof disk) =>
    of !== undefined && conditionOf<string>(of.conditions, 'Ready')?.status === 'True';
  return {
    orphan,
    nodeName: node?.name ?? orphan.nodeId,
    diskName: disk?.name ?? orphan.diskId,
    isReachable: isReady(node) && isReady(disk),
    volume: volume === undefined ? undefined : { name: volume.name, robustness: volume.robustness },
  };
}
