import type { Heartbeat } from './agent-protocol.js';
import type { ClusterId, DiskId, NodeId, SnapshotId, VolumeId } from './ids.js';
import type { LayerTask } from './layer-task.js';
import type { DataEngine, StorageDisk, StorageNode } from './node.js';
import type { Rebuild } from './rebuild.js';
import type { ClusterRelocations } from './relocation.js';
import type { Replica } from './replica.js';
import type { ClusterSettings } from './setting.js';
import type { Snapshot } from './snapshot.js';
import type { RebuildHold, Volume, VolumeSpec } from './volume.js';

/** Everything placement decisions read: one consistent snapshot of a cluster's nodes, disks and settings. */
export type FleetView = {
  readonly clusterId: ClusterId;
  readonly settings: ClusterSettings;
  /** Grows with every change of a setting: a limit computed from older settings is refused at booking. */
  readonly settingsVersion: number;
  /**
   * By the database's clock: the last moment at which a heartbeat could have been recorded (normally now), and since when
   * that was so without a break. Left out where nothing says so.
   */
  readonly listening?: { readonly now: Date; readonly since: Date };
  readonly nodes: readonly StorageNode[];
  readonly disks: readonly StorageDisk[];
};

/** Last report of a volume by its engine, through its agent's heartbeat. */
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
  /** Volumes that are being filled from snapshots of this one. */
  readonly clones: readonly { readonly volumeId: VolumeId; readonly snapshotId: SnapshotId }[];
  readonly fleet: FleetView;
  /** The engine of the volume's current epoch on its attached node, if that agent's current boot reported one. */
  readonly engine: EngineObservation | undefined;
  /** Of its cluster, its own included. */
  readonly relocations: ClusterRelocations;
};

/** Inputs of a volume's repair apart from its engine's report. */
export type RepairView = Pick<VolumeView, 'volume' | 'replicas' | 'rebuilds' | 'fleet'>;

/** Volumes with a replica or their engine on one node, by id. Their rebuilds are the active ones. */
export type NodeVolumes = {
  readonly fleet: FleetView;
  readonly volumes: readonly Omit<RepairView, 'fleet'>[];
};

/** Nodes and disks whose volumes a change concerns. */
export type AffectedPlaces = { readonly nodeIds: readonly NodeId[]; readonly diskIds: readonly DiskId[] };

/** A volume and the nodes of its copies. */
export type TaskVolume = { readonly volumeId: VolumeId; readonly nodeIds: readonly NodeId[] };

/** Bandwidth settings of a volume's rebuilds. */
export type BandwidthSpec = Pick<VolumeSpec, 'dataEngine' | 'replicaRebuildingBandwidthLimit'>;

/** Whose quota it is: an organization's, a project's, or that of a cluster's grant to an organization. */
export type QuotaScope = 'organization' | 'project' | 'grant';

/** Limit on how many rebuilds of one owner of volumes may run at once. */
export type RebuildQuota = {
  /** Of the organization, the project or the grant. */
  readonly id: string;
  readonly scope: QuotaScope;
  readonly most: number;
  /** Rebuilds that count in it and run in other clusters. */
  readonly elsewhere: number;
  /** Volumes of this cluster with a rebuild that waits or runs, and that count in it. */
  readonly volumeIds: readonly VolumeId[];
};

/** Everything that admission reads: of rebuilds, and of background tasks (purges, fillings and the worker's own hashing). */
export type AdmissionView = {
  readonly clusterId: ClusterId;
  readonly settings: ClusterSettings;
  readonly nodes: readonly StorageNode[];
  readonly queued: readonly Rebuild[];
  readonly running: readonly Rebuild[];
  /**
   * Over for us (cancelled or failed), but an engine may still work on them: they keep their places until it has said
   * that it does not. `Store.loadAdmissions` says which these are.
   */
  readonly ending: readonly Rebuild[];
  /**
   * Volumes with a hold, or whose layers are being changed or are next to be: no rebuild of them may start meanwhile. A
   * purge that waits for admission does not count.
   */
  readonly blocked: readonly {
    readonly volumeId: VolumeId;
    readonly reason: LayerTask['kind'] | RebuildHold;
  }[];
  readonly quotas: readonly RebuildQuota[];
  /** Volumes with a rebuild that waits or runs. */
  readonly rebuilt: readonly (TaskVolume & { readonly spec: BandwidthSpec })[];
  readonly tasks: {
    readonly admitted: readonly TaskVolume[];
    /** To be purged or filled; `since` when they wait for it or failed the last time. */
    readonly waiting: readonly (TaskVolume & { readonly since: Date })[];
    /** Volumes that may have something to hash. */
    readonly candidates: readonly (TaskVolume & {
      readonly dataEngine: DataEngine;
      /** Its last check; or, where that is longer ago, when the oldest of its snapshots was taken. */
      readonly checkedAt: Date;
      /** Since when a snapshot waits for its first hash. */
      readonly askedAt: Date | undefined;
    })[];
  };
};
