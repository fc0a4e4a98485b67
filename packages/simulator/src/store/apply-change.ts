import type { Change, CommitGuard, SpaceBooking } from '@holdfast/control/ports/store.js';
import { concernsReplicas, concernsVolumes, freesCapacity } from '@holdfast/core/model/changes.js';
import { assertNever, StorageFault } from '@holdfast/core/model/faults.js';
import type { ClusterId, DiskId } from '@holdfast/core/model/ids.js';
import { isLiveSnapshot } from '@holdfast/core/model/snapshot.js';
import type { VolumeFill } from '@holdfast/core/model/volume-fill.js';
import { isDeleting } from '@holdfast/core/model/volume-lifecycle.js';
import { fillOf, heavyTaskOf } from '@holdfast/core/model/volume-task.js';
import { deleteNode } from './delete-node.js';
import { deleteOrphan, patchOrphan, takeOverOrphan } from './orphans.js';
import { conflict, type Transaction } from './tables.js';

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** Checks what the commit was planned from and counts it up, so that of two commits from one state the second fails. */
export function takeGuard(transaction: Transaction, guard: CommitGuard): void {
  const { tables } = transaction;
  switch (guard.kind) {
    case 'volume': {
      const row = required(tables.volumes.get(guard.volumeId), guard.volumeId);
      if (row.version !== guard.ifVersion) throw conflict(`volume ${row.name} has changed`);
      if (guard.looksAgain === true) transaction.lookAfter(row.id);
      transaction.put(tables.volumes, row.id, { ...row, version: row.version + 1 });
      return;
    }
    case 'node': {
      const row = required(tables.nodes.get(guard.nodeId), guard.nodeId);
      if (row.version !== guard.ifVersion) throw conflict(`node ${row.name} has changed`);
      const { countsOn } = guard;
      if (countsOn !== undefined && tables.nodes.get(countsOn.id)?.version !== countsOn.version)
        throw conflict(`node ${countsOn.id} has changed`);
      transaction.put(tables.nodes, row.id, { ...row, version: row.version + 1 });
      return;
    }
    case 'admission': {
      const row = required(tables.clusters.get(guard.clusterId), guard.clusterId);
      if (row.admissionVersion !== guard.ifVersion) throw conflict('the queue has changed');
      const admissionVersion = row.admissionVersion + 1;
      transaction.put(tables.clusters, row.id, { ...row, admissionVersion });
      return;
    }
    case 'orphan': {
      const row = required(tables.orphans.get(guard.orphanId), guard.orphanId);
      if (row.version !== guard.ifVersion) throw conflict('the orphan has changed');
      transaction.put(tables.orphans, row.id, { ...row, version: row.version + 1 });
      return;
    }
    case 'new':
      return;
    default:
      assertNever(guard);
  }
}

/** Applies one change. A row that is not there any more is a conflict: the plan was made from an older state. */
export function applyChange(transaction: Transaction, change: Change, guard: CommitGuard): void {
  switch (change.kind) {
    case 'volume.create':
      createVolume(transaction, change);
      return;
    case 'volume.patch':
      patchVolume(transaction, change, guard);
      return;
    case 'volume.admit':
      admitTask(transaction, change);
      return;
    case 'volume.delete':
      deleteVolume(transaction, change);
      return;
    case 'replica.create':
      createReplica(transaction, change);
      return;
    case 'replica.place':
      placeReplica(transaction, change);
      return;
    case 'replica.patch':
      patchReplica(transaction, change);
      return;
    case 'replica.delete':
      deleteReplica(transaction, change);
      return;
    case 'replica.resize':
      resizeReplica(transaction, change);
      return;
    case 'rebuild.create':
      createRebuild(transaction, change);
      return;
    case 'rebuild.patch':
      patchRebuild(transaction, change);
      return;
    case 'snapshot.create':
      createSnapshot(transaction, change);
      return;
    case 'snapshot.patch':
      patchSnapshot(transaction, change);
      return;
    case 'snapshot.delete':
      deleteSnapshot(transaction, change);
      return;
    case 'balance.begin':
      beginBalancing(transaction, change);
      return;
    case 'node.patch':
    case 'node.delete':
      changeNode(transaction, change, guard);
      return;
    case 'disk.patch':
      patchDisk(transaction, change);
      return;
    case 'disk.create':
    case 'disk.remove':
    case 'disk.delete':
      changeDiskSet(transaction, change);
      return;
    case 'orphan.patch':
      patchOrphan(transaction, change, guard);
      return;
    case 'orphan.delete':
      deleteOrphan(transaction, change);
      return;
    case 'event':
      transaction.event(change.event);
      return;
    default:
      assertNever(change);
  }
}

function createVolume(transaction: Transaction, { volume }: ChangeOf<'volume.create'>): void {
  const { volumes } = transaction.tables;
  for (const other of volumes.values()) {
    if (other.projectId !== volume.projectId || other.name !== volume.name) continue;
    throw new StorageFault('volume.name_taken', {
      publicMessage: `the project has a volume named ${volume.name} already`,
    });
  }
  const fill = fillOf(volume);
  if (fill !== undefined) takeCloneSource(transaction, fill);
  transaction.put(volumes, volume.id, volume);
  transaction.touchVolume(volume.id);
}

/** Counts the source up, so that a deletion decided before loses; and refuses if a deletion came first. */
function takeCloneSource(transaction: Transaction, { sourceVolumeId, snapshotId }: VolumeFill): void {
  const { volumes, snapshots } = transaction.tables;
  const source = volumes.get(sourceVolumeId);
  const isReady = snapshots.get(snapshotId)?.state === 'ready';
  if (source === undefined || isDeleting(source) || !isReady) {
    throw new StorageFault('snapshot.in_use', {
      publicMessage: 'the snapshot is being deleted, or its volume is',
    });
  }
  transaction.put(volumes, source.id, { ...source, version: source.version + 1 });
}

function patchVolume(transaction: Transaction, change: ChangeOf<'volume.patch'>, guard: CommitGuard): void {
  const { volumes } = transaction.tables;
  const row = required(volumes.get(change.volumeId), change.volumeId);
  const isCounted = guard.kind === 'volume' && guard.volumeId === row.id;
  const version = row.version + (isCounted ? 0 : 1);
  // A volume that was filled from another one no longer blocks that one's purges.
  const fill = fillOf(row);
  if (Object.hasOwn(change.patch, 'task') && fill !== undefined) transaction.touchVolume(fill.sourceVolumeId);
  transaction.put(volumes, row.id, { ...row, ...change.patch, version });
  transaction.touchVolume(row.id);
}

function admitTask(transaction: Transaction, { volumeId, admittedAt }: ChangeOf<'volume.admit'>): void {
  const { volumes } = transaction.tables;
  const row = required(volumes.get(volumeId), volumeId);
  const task = heavyTaskOf(row);
  if (task === undefined) throw conflict(`volume ${row.name} has nothing to admit any more`);
  transaction.put(volumes, row.id, { ...row, task: { ...task, admittedAt }, version: row.version + 1 });
  transaction.touchVolume(row.id);
}

function deleteVolume(transaction: Transaction, { volumeId }: ChangeOf<'volume.delete'>): void {
  const { tables } = transaction;
  const row = required(tables.volumes.get(volumeId), volumeId);
  const isInUse = tables.replicas.by('volume', volumeId).length > 0;
  if (isInUse) throw conflict(`volume ${row.name} still has replicas`);
  for (const { id } of tables.snapshots.by('volume', volumeId)) transaction.remove(tables.snapshots, id);
  for (const { id } of tables.rebuilds.by('volume', volumeId)) transaction.remove(tables.rebuilds, id);
  transaction.remove(tables.volumes, volumeId);
  transaction.remove(tables.dues, volumeId);
  const fill = fillOf(row);
  if (fill !== undefined) transaction.touchVolume(fill.sourceVolumeId);
  transaction.touchCluster(row.clusterId);
}

function createReplica(transaction: Transaction, { replica, booking }: ChangeOf<'replica.create'>): void {
  const { tables } = transaction;
  required(tables.volumes.get(replica.volumeId), replica.volumeId);
  if (booking !== undefined) book(transaction, booking);
  takeOverOrphan(transaction, replica.id);
  transaction.put(tables.replicas, replica.id, replica);
  transaction.touchVolume(replica.volumeId);
}

function placeReplica(transaction: Transaction, change: ChangeOf<'replica.place'>): void {
  const { replicas } = transaction.tables;
  const row = required(replicas.get(change.replicaId), change.replicaId);
  if (row.diskId !== undefined) throw conflict(`replica ${row.id} has a place already`);
  book(transaction, change.booking);
  const { nodeId, booking } = change;
  const place = { nodeId, diskId: booking.diskId, explanation: undefined };
  transaction.put(replicas, row.id, { ...row, ...place, version: row.version + 1 });
  transaction.touchVolume(row.volumeId);
}

function patchReplica(transaction: Transaction, change: ChangeOf<'replica.patch'>): void {
  const { replicas } = transaction.tables;
  const row = required(replicas.get(change.replicaId), change.replicaId);
  transaction.put(replicas, row.id, { ...row, ...change.patch, version: row.version + 1 });
  transaction.touchVolume(row.volumeId);
}

function deleteReplica(transaction: Transaction, { replicaId }: ChangeOf<'replica.delete'>): void {
  const { tables } = transaction;
  const row = required(tables.replicas.get(replicaId), replicaId);
  transaction.remove(tables.replicas, row.id);
  transaction.touchVolume(row.volumeId);
  if (row.diskId === undefined) return;
  const disk = requiredDisk(transaction, row.diskId);
  transaction.put(tables.disks, disk.id, {
    ...disk,
    storageScheduledBytes: disk.storageScheduledBytes - row.sizeBytes,
    writtenBytes: writtenOn(transaction, disk.id),
  });
}

function resizeReplica(transaction: Transaction, change: ChangeOf<'replica.resize'>): void {
  const { replicas } = transaction.tables;
  const row = required(replicas.get(change.replicaId), change.replicaId);
  if (change.booking !== undefined) book(transaction, change.booking);
  transaction.put(replicas, row.id, { ...row, sizeBytes: change.sizeBytes, version: row.version + 1 });
  transaction.touchVolume(row.volumeId);
}

function createSnapshot(transaction: Transaction, { snapshot }: ChangeOf<'snapshot.create'>): void {
  const { snapshots } = transaction.tables;
  const isTaken = snapshots
    .by('volume', snapshot.volumeId)
    .some((other) => other.name === snapshot.name && isLiveSnapshot(other));
  if (isTaken && isLiveSnapshot(snapshot)) {
    throw new StorageFault('snapshot.name_taken', { publicMessage: `there is a snapshot ${snapshot.name}` });
  }
  transaction.put(snapshots, snapshot.id, snapshot);
  transaction.touchVolume(snapshot.volumeId);
}

function patchSnapshot(transaction: Transaction, change: ChangeOf<'snapshot.patch'>): void {
  const { snapshots } = transaction.tables;
  const row = required(snapshots.get(change.snapshotId), change.snapshotId);
  transaction.put(snapshots, row.id, { ...row, ...change.patch });
  transaction.touchVolume(row.volumeId);
}

function deleteSnapshot(transaction: Transaction, { snapshotId }: ChangeOf<'snapshot.delete'>): void {
  const { snapshots } = transaction.tables;
  const row = required(snapshots.get(snapshotId), snapshotId);
  transaction.remove(snapshots, row.id);
  transaction.touchVolume(row.volumeId);
}

/** The sum over the replicas as they are now: heartbeats refresh it in the same way. */
export function writtenOn({ tables }: Transaction, diskId: DiskId): number {
  return tables.replicas.by('disk', diskId).reduce((sum, { writtenBytes }) => sum + writtenBytes, 0);
}

function createRebuild(transaction: Transaction, { rebuild }: ChangeOf<'rebuild.create'>): void {
  transaction.put(transaction.tables.rebuilds, rebuild.id, rebuild);
  transaction.touchVolume(rebuild.volumeId);
  transaction.touchCluster(rebuild.clusterId);
}

function patchRebuild(transaction: Transaction, change: ChangeOf<'rebuild.patch'>): void {
  const { rebuilds } = transaction.tables;
  const row = required(rebuilds.get(change.rebuildId), change.rebuildId);
  if (change.ifState !== undefined && row.state !== change.ifState) {
    throw conflict(`rebuild ${row.id} is ${row.state}`);
  }
  transaction.put(rebuilds, row.id, { ...row, ...change.patch, version: row.version + 1 });
  transaction.touchVolume(row.volumeId);
  transaction.touchCluster(row.clusterId);
}

function beginBalancing(transaction: Transaction, { clusterId, ifVersion }: ChangeOf<'balance.begin'>): void {
  const { clusters } = transaction.tables;
  const row = required(clusters.get(clusterId), clusterId);
  if (row.balanceVersion !== ifVersion) throw conflict('auto-balance has begun another relocation');
  transaction.put(clusters, row.id, { ...row, balanceVersion: row.balanceVersion + 1 });
}

function patchNode(transaction: Transaction, change: ChangeOf<'node.patch'>, guard: CommitGuard): void {
  const { nodes } = transaction.tables;
  const row = required(nodes.get(change.nodeId), change.nodeId);
  const isCounted = guard.kind === 'node' && guard.nodeId === row.id;
  const version = row.version + (isCounted ? 0 : 1);
  transaction.put(nodes, row.id, { ...row, ...change.patch, version });
  if (concernsVolumes(change.patch)) transaction.fanOut(row.clusterId, 'node', row.id);
  else transaction.touchCluster(row.clusterId);
  if (freesCapacity(change.patch)) fanOutOpening(transaction, row.clusterId);
}

function changeNode(
  transaction: Transaction,
  change: ChangeOf<'node.patch'> | ChangeOf<'node.delete'>,
  guard: CommitGuard,
): void {
  if (change.kind === 'node.patch') patchNode(transaction, change, guard);
  else forgetNode(transaction, change);
}

function forgetNode(transaction: Transaction, { nodeId }: ChangeOf<'node.delete'>): void {
  const row = required(transaction.tables.nodes.get(nodeId), nodeId);
  if (row.forget === undefined) throw conflict(`node ${row.name} is not being forgotten`);
  if (deleteNode(transaction, nodeId) !== 'deleted') throw conflict(`a volume refers to node ${row.name}`);
  transaction.touchCluster(row.clusterId);
}

/** Where any volume of the cluster may move to a better place. */
function fanOutOpening(transaction: Transaction, clusterId: ClusterId): void {
  const { clusters, volumes } = transaction.tables;
  const settings = clusters.get(clusterId)?.settings;
  const isWanted =
    (settings?.['replica-auto-balance'] ?? 'disabled') !== 'disabled' ||
    settings?.['replica-relocate-on-selector-change'] === true ||
    [...volumes.values()].some(
      ({ clusterId: of, spec }) =>
        of === clusterId &&
        (!['ignored', 'disabled'].includes(spec.replicaAutoBalance) || spec.dataLocality === 'best-effort'),
    );
  if (isWanted) transaction.fanOut(clusterId, 'cluster', clusterId);
}

function patchDisk(transaction: Transaction, change: ChangeOf<'disk.patch'>): void {
  const row = requiredDisk(transaction, change.diskId);
  transaction.put(transaction.tables.disks, row.id, { ...row, ...change.patch, version: row.version + 1 });
  const node = transaction.tables.nodes.get(row.nodeId);
  if (node === undefined) return;
  transaction.touchCluster(node.clusterId);
  if (concernsReplicas(change.patch)) transaction.fanOut(node.clusterId, 'disk', row.id);
  if (freesCapacity(change.patch)) fanOutOpening(transaction, node.clusterId);
}

/** A disk that is added to its node, or taken off. */
function changeDiskSet(
  transaction: Transaction,
  change: ChangeOf<'disk.create'> | ChangeOf<'disk.remove'> | ChangeOf<'disk.delete'>,
): void {
  const { disks, nodes } = transaction.tables;
  const disk = change.kind === 'disk.create' ? change.disk : requiredDisk(transaction, change.diskId);
  if (disk.storageScheduledBytes > 0) throw conflict(`something is booked on disk ${disk.name}`);
  transaction.touchCluster(required(nodes.get(disk.nodeId), disk.nodeId).clusterId);
  if (change.kind === 'disk.delete') transaction.remove(disks, disk.id);
  else if (change.kind === 'disk.create') transaction.put(disks, disk.id, disk);
  else {
    const { version } = disk;
    const removed = { removalRequestedAt: change.at, allowScheduling: false, version: version + 1 };
    transaction.put(disks, disk.id, { ...disk, ...removed });
  }
}

function book(transaction: Transaction, booking: SpaceBooking): void {
  const disk = requiredDisk(transaction, booking.diskId);
  const node = required(transaction.tables.nodes.get(disk.nodeId), disk.nodeId);
  const cluster = required(transaction.tables.clusters.get(node.clusterId), node.clusterId);
  if (cluster.settingsVersion !== booking.ifSettingsVersion) throw conflict('the settings have changed');
  if (booking.ifDiskVersion !== undefined && booking.ifDiskVersion !== disk.version) {
    throw conflict(`disk ${disk.name} has changed`);
  }
  if (disk.removalRequestedAt !== undefined) throw conflict(`disk ${disk.name} is being removed`);
  const storageScheduledBytes = disk.storageScheduledBytes + booking.sizeBytes;
  if (storageScheduledBytes > booking.limitBytes) throw conflict(`disk ${disk.name} has no room any more`);
  transaction.put(transaction.tables.disks, disk.id, { ...disk, storageScheduledBytes });
}

function requiredDisk({ tables }: Transaction, diskId: DiskId) {
  return required(tables.disks.get(diskId), diskId);
}

function required<Row>(row: Row | undefined, id: string): Row {
  if (row === undefined) throw conflict(`${id} is gone or has changed`);
  return row;
}
