import type { ClusterEvent } from './event.js';
import type {
  ClusterId,
  DiskId,
  NodeId,
  OrphanId,
  RebuildId,
  ReplicaId,
  SnapshotId,
  VolumeId,
} from './ids.js';
import type { StorageDisk, StorageNode } from './node.js';
import type { Orphan } from './orphan.js';
import type { Rebuild } from './rebuild.js';
import type { Replica } from './replica.js';
import type { Snapshot } from './snapshot.js';
import type { Volume } from './volume.js';

/**
 * A replica's claim on a disk. The database compares integers under the disk's lock: the booking fails with
 * `store.conflict` when the disk's scheduled bytes would pass `limitBytes`, or when disk or settings have changed
 * since the limit was computed. So two at once can't over-book a disk.
 */
export type SpaceBooking = {
  diskId: DiskId;
  sizeBytes: number;
  limitBytes: number;
  ifSettingsVersion: number;
  /** The disk's version that the limit was computed from; left out: any version will do. */
  ifDiskVersion?: number;
};

type Patch<T, K extends keyof T> = Partial<Omit<T, 'id' | 'version' | 'createdAt' | K>>;
export type VolumePatch = Patch<Volume, 'organizationId' | 'projectId' | 'clusterId'>;
export type ReplicaPatch = Patch<Replica, 'volumeId' | 'nodeId' | 'diskId'>;
export type RebuildPatch = Patch<Rebuild, 'clusterId' | 'volumeId'>;
export type SnapshotPatch = Partial<Omit<Snapshot, 'id' | 'volumeId'>>;
export type NodePatch = Patch<StorageNode, 'clusterId'>;
export type DiskPatch = Patch<
  StorageDisk,
  'nodeId' | 'storageScheduledBytes' | 'writtenBytes' | 'addedAt' | 'configuredBytes' | 'removalRequestedAt'
>;

type Opening = Pick<
  NodePatch,
  | 'allowScheduling'
  | 'cordoned'
  | 'evictionRequested'
  | 'maintenance'
  | 'tags'
  | 'zone'
  | 'region'
  | 'returnedAt'
>;

/**
 * May a change of a node or a disk give any volume of the cluster a better place for a copy that it has elsewhere? Switches
 * do when they open it, labels always. Free space comes and goes with every heartbeat and does not count.
 */
export function freesCapacity(patch: Opening): boolean {
  const isLabelled = ['tags', 'zone', 'region', 'returnedAt'].some((field) => Object.hasOwn(patch, field));
  const isOutOfMaintenance = Object.hasOwn(patch, 'maintenance') && patch.maintenance === undefined;
  const isOpened =
    patch.allowScheduling === true || patch.cordoned === false || patch.evictionRequested === false;
  return isLabelled || isOutOfMaintenance || isOpened;
}

/** Does a change of a disk concern the volumes with replicas there? Commits change only those conditions that are shown; labels are for users. */
export function concernsReplicas(patch: DiskPatch): boolean {
  return Object.keys(patch).some((field) => field !== 'conditions' && field !== 'labels');
}

/** True if a change of a node concerns its volumes. A drain's progress is only displayed, and labels are for users. */
export function concernsVolumes(patch: NodePatch): boolean {
  return Object.keys(patch).some((field) => field !== 'drainStatus' && field !== 'labels');
}

export type OrphanPatch = Partial<Pick<Orphan, 'announcedAt' | 'description' | 'removal'>>;

/** One change of the database. A commit applies several in one transaction, or none. */
export type Change =
  | { kind: 'volume.create'; volume: Volume }
  | { kind: 'volume.patch'; volumeId: VolumeId; patch: VolumePatch }
  /** Admits the filling or purge of the volume. One whose task is another by now is a conflict. */
  | { kind: 'volume.admit'; volumeId: VolumeId; admittedAt: Date }
  /** Removes the row; its replicas must be gone. */
  | { kind: 'volume.delete'; volumeId: VolumeId }
  | { kind: 'replica.create'; replica: Replica; booking: SpaceBooking | undefined }
  /** Gives an unplaced replica its disk. */
  | { kind: 'replica.place'; replicaId: ReplicaId; nodeId: NodeId; booking: SpaceBooking }
  | { kind: 'replica.patch'; replicaId: ReplicaId; patch: ReplicaPatch }
  /** Removes the row and gives its booking back. */
  | { kind: 'replica.delete'; replicaId: ReplicaId }
  | { kind: 'rebuild.create'; rebuild: Rebuild }
  | { kind: 'rebuild.patch'; rebuildId: RebuildId; ifState?: Rebuild['state']; patch: RebuildPatch }
  /**
   * Changes a replica's nominal size. `booking.sizeBytes` is the difference, negative to give back; undefined: it has no
   * disk to book on.
   */
  | { kind: 'replica.resize'; replicaId: ReplicaId; sizeBytes: number; booking: SpaceBooking | undefined }
  | { kind: 'snapshot.create'; snapshot: Snapshot }
  | { kind: 'snapshot.patch'; snapshotId: SnapshotId; patch: SnapshotPatch }
  | { kind: 'snapshot.delete'; snapshotId: SnapshotId }
  /** Auto-balance begins a relocation. One that was decided before another one began is a conflict. */
  | { kind: 'balance.begin'; clusterId: ClusterId; ifVersion: number }
  | { kind: 'node.patch'; nodeId: NodeId; patch: NodePatch }
  /** Deletes the row of a node that is being forgotten, its disks, and its observations. A reference by a volume is a conflict. */
  | { kind: 'node.delete'; nodeId: NodeId }
  | { kind: 'disk.patch'; diskId: DiskId; patch: DiskPatch }
  /** A disk that a user adds to a node; its agent sets it up. */
  | { kind: 'disk.create'; disk: StorageDisk }
  /** Has its agent release it. Anything booked on it is a conflict; afterwards nothing can be booked. */
  | { kind: 'disk.remove'; diskId: DiskId; at: Date }
  /** Removes the row of a disk whose agent can't be asked. One with anything booked on it is a conflict. */
  | { kind: 'disk.delete'; diskId: DiskId }
  /** Claiming a `removal` is a conflict while a replica has its id; afterwards no replica can get it. */
  | { kind: 'orphan.patch'; orphanId: OrphanId; patch: OrphanPatch }
  | { kind: 'orphan.delete'; orphanId: OrphanId }
  | { kind: 'event'; event: ClusterEvent };
