import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import type { ClusterId, DiskId, NodeId, RebuildId, ReplicaId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageDisk, StorageNode } from '@holdfast/core/model/node.js';
import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import type { ClusterSettings } from '@holdfast/core/settings/definitions.js';
import type { AgentTarget } from './agent-client.js';

/** Everything placement decisions read: one consistent snapshot of a cluster's nodes, disks and settings. */
export type FleetView = {
  readonly clusterId: ClusterId;
  readonly settings: ClusterSettings;
  /** Grows with every change of a setting: a limit computed from older settings is refused at booking. */
  readonly settingsVersion: number;
  readonly nodes: readonly StorageNode[];
  readonly disks: readonly StorageDisk[];
};

/** What an engine last reported of a volume, through its agent's heartbeat. */
export type EngineObservation = {
  nodeId: NodeId;
  bootId: string;
  at: Date;
  report: Heartbeat['engines'][number];
};

/** Everything the volume's reconciler reads: one consistent snapshot. */
export type VolumeView = {
  readonly volume: Volume;
  readonly replicas: readonly Replica[];
  readonly snapshots: readonly Snapshot[];
  /** Active rebuilds and the last few that ended (for back-off). */
  readonly rebuilds: readonly Rebuild[];
  readonly fleet: FleetView;
  /** The engine of the volume's current epoch on its attached node, if that agent's current boot reported one. */
  readonly engine: EngineObservation | undefined;
};

/** Everything rebuild admission reads. */
export type RebuildQueueView = {
  readonly clusterId: ClusterId;
  readonly settings: ClusterSettings;
  readonly nodes: readonly StorageNode[];
  readonly queued: readonly Rebuild[];
  readonly running: readonly Rebuild[];
};

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
};

type Patch<T, K extends keyof T> = Partial<Omit<T, 'id' | 'version' | 'createdAt' | K>>;
export type VolumePatch = Patch<Volume, 'organizationId' | 'projectId' | 'clusterId'>;
export type ReplicaPatch = Patch<Replica, 'volumeId' | 'nodeId' | 'diskId'>;
export type RebuildPatch = Patch<Rebuild, 'clusterId' | 'volumeId'>;
export type NodePatch = Patch<StorageNode, 'clusterId'>;
export type DiskPatch = Patch<StorageDisk, 'nodeId' | 'storageScheduledBytes' | 'writtenBytes'>;

/** One change of the database. A commit applies several in one transaction, or none. */
export type Change =
  | { kind: 'volume.create'; volume: Volume }
  | { kind: 'volume.patch'; volumeId: VolumeId; patch: VolumePatch }
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
  | { kind: 'snapshot.create'; snapshot: Snapshot }
  | { kind: 'node.patch'; nodeId: NodeId; patch: NodePatch }
  | { kind: 'disk.patch'; diskId: DiskId; patch: DiskPatch }
  | { kind: 'event'; event: ClusterEvent };

/** What must still be so for a commit to apply. Every write is fenced by one of these. */
export type CommitGuard =
  | { kind: 'volume'; volumeId: VolumeId; ifVersion: number }
  | { kind: 'node'; nodeId: NodeId; ifVersion: number }
  /** Admission: one at a time per cluster, so that limits are strict. `ifToken` comes from `loadRebuildQueue`. */
  | { kind: 'rebuild-queue'; clusterId: ClusterId; ifVersion: number }
  | { kind: 'new' };

/**
 * The truth about what is wanted and known. In production Postgres; in tests and the simulator, memory with the same
 * semantics (a shared contract test holds both to it).
 *
 * Each commit also writes an outbox row for every volume and cluster it touched, in the same transaction; the relay
 * turns those into wake-ups.
 *
 * @throws StorageFault `store.conflict` when a guard no longer holds, a booking does not fit any more, or the
 *   database saw a serialisation conflict: reload and decide again. `store.unavailable` when it can't be reached.
 */
export interface Store {
  loadVolume(volumeId: VolumeId): Promise<VolumeView | undefined>;
  loadFleet(clusterId: ClusterId): Promise<FleetView>;
  loadRebuildQueue(clusterId: ClusterId): Promise<RebuildQueueView & { readonly version: number }>;
  /** Ids of volumes that may need work: everything not settled, oldest first, at most `limit` after `afterId`. */
  listUnsettledVolumes(options: { limit: number; afterId?: VolumeId }): Promise<VolumeId[]>;
  listClusters(): Promise<ClusterId[]>;
  agentOf(nodeId: NodeId): Promise<AgentTarget | undefined>;
  commit(guard: CommitGuard, changes: readonly Change[]): Promise<void>;
  /**
   * Takes over what an agent reported: node and disk facts, written bytes, engine observations. Wakes the volumes
   * whose engine, modes or rebuilds changed, not the others. Creates node and disks on first contact.
   */
  recordHeartbeat(clusterId: ClusterId, heartbeat: Heartbeat, now: Date): Promise<{ nodeId: NodeId }>;
  /**
   * Records smaller members on behalf of an engine, if `record.epoch` is still the volume's.
   * @throws StorageFault `engine.stale_epoch` when a newer attachment exists
   */
  confirmRecord(volumeId: VolumeId, record: CopyRecord): Promise<void>;
}
