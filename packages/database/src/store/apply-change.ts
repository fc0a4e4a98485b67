import type { Change } from '@holdfast/control/ports/store.js';
import { concernsReplicas, concernsVolumes, freesCapacity } from '@holdfast/core/model/changes.js';
import { assertNever } from '@holdfast/core/model/faults.js';
import type { ClusterId, OrganizationId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { Orphan } from '@holdfast/core/model/orphan.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { DISKS } from '../rows/disk-row.js';
import { NODES } from '../rows/node-row.js';
import { ORPHANS } from '../rows/orphan-row.js';
import { REBUILDS } from '../rows/rebuild-row.js';
import { REPLICAS, type ReplicaRow } from '../rows/replica-row.js';
import { SNAPSHOTS } from '../rows/snapshot-row.js';
import { VOLUMES } from '../rows/volume-row.js';
import { conflict } from '../sql/errors.js';
import { insertUnder, patchRow } from '../sql/table.js';
import { createDisk, deleteDisk, removeDisk } from './apply-disk-change.js';
import { book, release } from './booking.js';
import type { Commit } from './commit.js';
import { insertEvent } from './events.js';
import { fanOutFreedCapacity, storeFanOut } from './fan-out.js';
import { removeNodeRows, revokeForgotten } from './forgotten-nodes.js';

type ChangeOf<Kind extends Change['kind']> = Extract<Change, { kind: Kind }>;

/** Applies one change. A row that is not there any more is a conflict: the plan was made from an older state. */
export async function applyChange(commit: Commit, change: Change): Promise<void> {
  const { sql, touched } = commit;
  switch (change.kind) {
    case 'volume.create':
      return createVolume(commit, change);
    case 'volume.patch':
      return patchVolume(commit, change);
    case 'volume.admit':
      return admitTask(commit, change);
    case 'volume.delete':
      return deleteVolume(commit, change);
    case 'replica.create':
      return createReplica(commit, change);
    case 'replica.place':
      return placeReplica(commit, change);
    case 'replica.patch':
      return patchReplica(commit, change);
    case 'replica.delete':
      return deleteReplica(commit, change);
    case 'replica.resize':
      return resizeReplica(commit, change);
    case 'rebuild.create':
      return createRebuild(commit, change);
    case 'rebuild.patch':
      return patchRebuild(commit, change);
    case 'snapshot.create': {
      const { snapshot } = change;
      const made = await insertUnder(sql, SNAPSHOTS, snapshot, { table: 'volume', id: snapshot.volumeId });
      requireMade(made, `volume ${snapshot.volumeId}`);
      return touched.volume(snapshot.volumeId);
    }
    case 'snapshot.patch':
      return patchSnapshot(commit, change);
    case 'snapshot.delete':
      return deleteSnapshot(commit, change);
    case 'balance.begin':
      return beginBalancing(commit, change);
    case 'node.patch':
      return patchNode(commit, change);
    case 'node.delete':
      return deleteNode(commit, change);
    case 'disk.patch':
      return patchDisk(commit, change);
    case 'disk.create':
      return createDisk(commit, change);
    case 'disk.remove':
      return removeDisk(commit, change);
    case 'disk.delete':
      return deleteDisk(commit, change);
    case 'orphan.patch':
      return patchOrphan(commit, change);
    case 'orphan.delete':
      return deleteOrphan(commit, change);
    case 'event':
      return tell(commit, change);
    default:
      return assertNever(change);
  }
}

async function createVolume({ sql, touched }: Commit, { volume }: ChangeOf<'volume.create'>): Promise<void> {
  const made = await insertUnder(sql, VOLUMES, volume, { table: 'project', id: volume.projectId });
  requireMade(made, `project ${volume.projectId}`);
  touched.volume(volume.id);
}

async function patchVolume(commit: Commit, change: ChangeOf<'volume.patch'>): Promise<void> {
  const { guard, sql, touched } = commit;
  const guarded = guard.kind === 'volume' && guard.volumeId === change.volumeId;
  if (Object.hasOwn(change.patch, 'task')) await touchSource(commit, change.volumeId);
  const row = await patchRow<Volume, { id: VolumeId }>(sql, VOLUMES, change.volumeId, change.patch, {
    bumpVersion: !guarded,
    returning: 'id',
  });
  required(row, `volume ${change.volumeId}`);
  touched.volume(change.volumeId);
}

async function admitTask({ sql, touched }: Commit, change: ChangeOf<'volume.admit'>): Promise<void> {
  const { volumeId, admittedAt } = change;
  const { rows } = await sql.query<{ id: VolumeId }>(
    `UPDATE volume SET turn_at = $2, version = version + 1
     WHERE id = $1 AND (fill IS NOT NULL OR layer_task->>'kind' = 'purge') RETURNING id`,
    [volumeId, admittedAt],
  );
  touched.volume(required(rows[0], `a filling or purge of volume ${volumeId}`).id);
}

/** A volume that was filled from another one no longer blocks that one's purges. */
async function touchSource({ sql, touched }: Commit, volumeId: VolumeId): Promise<void> {
  const { rows } = await sql.query<{ source_id: VolumeId }>(
    `SELECT fill->>'sourceVolumeId' AS source_id FROM volume WHERE id = $1 AND fill IS NOT NULL`,
    [volumeId],
  );
  for (const { source_id } of rows) touched.volume(source_id);
}

async function deleteVolume(commit: Commit, change: ChangeOf<'volume.delete'>): Promise<void> {
  const { sql, touched } = commit;
  await touchSource(commit, change.volumeId);
  const { rows } = await sql.query<{ cluster_id: ClusterId; organization_id: OrganizationId }>(
    'DELETE FROM volume WHERE id = $1 RETURNING cluster_id, organization_id',
    [change.volumeId],
  );
  const row = required(rows[0], `volume ${change.volumeId}`);
  commit.gone.set(change.volumeId, row.organization_id);
  touched.cluster(row.cluster_id);
}

function tell({ sql, gone }: Commit, { event }: ChangeOf<'event'>): Promise<void> {
  return insertEvent(sql, event, event.volumeId === undefined ? undefined : gone.get(event.volumeId));
}

async function createReplica({ sql, touched }: Commit, change: ChangeOf<'replica.create'>): Promise<void> {
  const { replica, booking } = change;
  if (booking !== undefined) await book(sql, booking);
  const made = await insertUnder(sql, REPLICAS, replica, { table: 'volume', id: replica.volumeId });
  requireMade(made, `volume ${replica.volumeId}`);
  touched.volume(replica.volumeId);
}

async function placeReplica({ sql, touched }: Commit, change: ChangeOf<'replica.place'>): Promise<void> {
  await book(sql, change.booking);
  // Only if it has no disk yet: otherwise its first booking would never be released.
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    `UPDATE replica SET node_id = $2, disk_id = $3, explanation = NULL, version = version + 1
     WHERE id = $1 AND disk_id IS NULL RETURNING volume_id`,
    [change.replicaId, change.nodeId, change.booking.diskId],
  );
  touched.volume(required(rows[0], `unplaced replica ${change.replicaId}`).volume_id);
}

async function patchReplica({ sql, touched }: Commit, change: ChangeOf<'replica.patch'>): Promise<void> {
  const row = await patchRow<Replica, { volume_id: VolumeId }>(
    sql,
    REPLICAS,
    change.replicaId,
    change.patch,
    {
      bumpVersion: true,
      returning: 'volume_id',
    },
  );
  touched.volume(required(row, `replica ${change.replicaId}`).volume_id);
}

async function deleteReplica({ sql, touched }: Commit, change: ChangeOf<'replica.delete'>): Promise<void> {
  const { rows } = await sql.query<
    Pick<ReplicaRow, 'volume_id' | 'disk_id' | 'size_bytes' | 'written_bytes'>
  >('DELETE FROM replica WHERE id = $1 RETURNING volume_id, disk_id, size_bytes, written_bytes', [
    change.replicaId,
  ]);
  const row = required(rows[0], `replica ${change.replicaId}`);
  await release(sql, row);
  touched.volume(row.volume_id);
}

async function resizeReplica({ sql, touched }: Commit, change: ChangeOf<'replica.resize'>): Promise<void> {
  if (change.booking !== undefined) await book(sql, change.booking);
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    'UPDATE replica SET size_bytes = $2, version = version + 1 WHERE id = $1 RETURNING volume_id',
    [change.replicaId, change.sizeBytes],
  );
  touched.volume(required(rows[0], `replica ${change.replicaId}`).volume_id);
}

async function patchSnapshot({ sql, touched }: Commit, change: ChangeOf<'snapshot.patch'>): Promise<void> {
  const row = await patchRow<Snapshot, { volume_id: VolumeId }>(
    sql,
    SNAPSHOTS,
    change.snapshotId,
    change.patch,
    { bumpVersion: undefined, returning: 'volume_id' },
  );
  touched.volume(required(row, `snapshot ${change.snapshotId}`).volume_id);
}

async function deleteSnapshot({ sql, touched }: Commit, change: ChangeOf<'snapshot.delete'>): Promise<void> {
  const { rows } = await sql.query<{ volume_id: VolumeId }>(
    'DELETE FROM snapshot WHERE id = $1 RETURNING volume_id',
    [change.snapshotId],
  );
  touched.volume(required(rows[0], `snapshot ${change.snapshotId}`).volume_id);
}

async function createRebuild(
  { sql, touched }: Commit,
  { rebuild }: ChangeOf<'rebuild.create'>,
): Promise<void> {
  const made = await insertUnder(sql, REBUILDS, rebuild, { table: 'volume', id: rebuild.volumeId });
  requireMade(made, `volume ${rebuild.volumeId}`);
  touched.volume(rebuild.volumeId);
  touched.cluster(rebuild.clusterId);
}

async function patchRebuild({ sql, touched }: Commit, change: ChangeOf<'rebuild.patch'>): Promise<void> {
  const condition =
    change.ifState === undefined ? {} : { condition: { text: 'state = $2', value: change.ifState } };
  const row = await patchRow<Rebuild, { volume_id: VolumeId; cluster_id: ClusterId }>(
    sql,
    REBUILDS,
    change.rebuildId,
    change.patch,
    { bumpVersion: true, returning: 'volume_id, cluster_id', ...condition },
  );
  const { volume_id, cluster_id } = required(row, `rebuild ${change.rebuildId}`);
  touched.volume(volume_id);
  touched.cluster(cluster_id);
}

/** Also locks the cluster's row: one relocation of auto-balance begins at a time. */
async function beginBalancing(
  { sql }: Commit,
  { clusterId, ifVersion }: ChangeOf<'balance.begin'>,
): Promise<void> {
  const { rowCount } = await sql.query(
    'UPDATE cluster SET balance_version = balance_version + 1 WHERE id = $1 AND balance_version = $2',
    [clusterId, ifVersion],
  );
  if (rowCount === 0) throw conflict('auto-balance has begun another relocation');
}

async function patchNode({ guard, sql, touched }: Commit, change: ChangeOf<'node.patch'>): Promise<void> {
  const guarded = guard.kind === 'node' && guard.nodeId === change.nodeId;
  const row = await patchRow<StorageNode, { cluster_id: ClusterId }>(
    sql,
    NODES,
    change.nodeId,
    change.patch,
    {
      bumpVersion: !guarded,
      returning: 'cluster_id',
    },
  );
  const { cluster_id } = required(row, `node ${change.nodeId}`);
  if (concernsVolumes(change.patch)) await storeFanOut(sql, cluster_id, { kind: 'node', id: change.nodeId });
  if (freesCapacity(change.patch)) await fanOutFreedCapacity(sql, cluster_id);
  // In the same transaction: an agent that is heard between the two would make its node ready again.
  if (change.patch.forget !== undefined) await revokeForgotten(sql, change.nodeId);
  touched.cluster(cluster_id);
}

async function deleteNode({ sql, touched }: Commit, { nodeId }: ChangeOf<'node.delete'>): Promise<void> {
  const { rows } = await sql.query<{ cluster_id: ClusterId; used: boolean }>(
    'SELECT cluster_id, node_is_used(id) AS used FROM node WHERE id = $1 AND forget IS NOT NULL FOR UPDATE',
    [nodeId],
  );
  const { cluster_id, used } = required(rows[0], `a node ${nodeId} that is being forgotten`);
  if (used) throw conflict(`a volume refers to node ${nodeId}`);
  await removeNodeRows(sql, nodeId);
  touched.cluster(cluster_id);
}

async function patchDisk({ sql, touched }: Commit, change: ChangeOf<'disk.patch'>): Promise<void> {
  const row = await patchRow<StorageDisk, { cluster_id: ClusterId }>(
    sql,
    DISKS,
    change.diskId,
    change.patch,
    {
      bumpVersion: true,
      returning: 'cluster_id',
    },
  );
  const { cluster_id } = required(row, `disk ${change.diskId}`);
  if (concernsReplicas(change.patch)) await storeFanOut(sql, cluster_id, { kind: 'disk', id: change.diskId });
  if (freesCapacity(change.patch)) await fanOutFreedCapacity(sql, cluster_id);
  touched.cluster(cluster_id);
}

/**
 * The guard has locked the row, and a replica that is being made under this id waits for it or was committed before: so the result
 * holds until the commit.
 */
async function patchOrphan(
  { guard, sql, touched }: Commit,
  { orphanId, patch }: ChangeOf<'orphan.patch'>,
): Promise<void> {
  const guarded = guard.kind === 'orphan' && guard.orphanId === orphanId;
  const row = await patchRow<Orphan, { cluster_id: ClusterId; replica_id: string }>(
    sql,
    ORPHANS,
    orphanId,
    patch,
    { bumpVersion: !guarded, returning: 'cluster_id, replica_id' },
  );
  const { cluster_id, replica_id } = required(row, `orphan ${orphanId}`);
  touched.cluster(cluster_id);
  if (patch.removal?.claimedAt === undefined) return;
  const { rowCount } = await sql.query('SELECT FROM replica WHERE id = $1', [replica_id]);
  if (rowCount > 0) throw conflict(`a replica has the id of orphan ${orphanId}`);
}

async function deleteOrphan({ sql, touched }: Commit, change: ChangeOf<'orphan.delete'>): Promise<void> {
  const { rows } = await sql.query<{ cluster_id: ClusterId }>(
    'DELETE FROM orphan WHERE id = $1 RETURNING cluster_id',
    [change.orphanId],
  );
  touched.cluster(required(rows[0], `orphan ${change.orphanId}`).cluster_id);
}

function requireMade(made: boolean, parent: string): void {
  if (!made) throw conflict(`${parent} is gone`);
}

function required<T>(row: T | undefined, what: string): T {
  if (row === undefined) throw conflict(`${what} is gone or has changed`);
  return row;
}
