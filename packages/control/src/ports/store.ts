import type { OrphansView } from '@holdfast/core/lifecycle/plan-orphans.js';
import type { Heartbeat, HeartbeatReply } from '@holdfast/core/model/agent-protocol.js';
import type { Change } from '@holdfast/core/model/changes.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ClusterId, NodeId, OrphanId, VolumeId } from '@holdfast/core/model/ids.js';
import type { StorageNode } from '@holdfast/core/model/node.js';
import type { OrphanInContext } from '@holdfast/core/model/orphan.js';
import type { RebuildSpeed } from '@holdfast/core/model/rebuild.js';
import type {
  AdmissionView,
  AffectedPlaces,
  FleetView,
  NodeVolumes,
  VolumeView,
} from '@holdfast/core/model/views.js';
import type { DiskWishes } from '@holdfast/core/policy/disk-wishes.js';
import type { AgentTarget } from './agent-client.js';

export type { OrphansView } from '@holdfast/core/lifecycle/plan-orphans.js';

import type { Lane } from '@holdfast/core/policy/work-lane.js';

// The decisions in core are functions of these, so core declares them; here is where the rest of the house finds them.
export type {
  Change,
  DiskPatch,
  NodePatch,
  OrphanPatch,
  RebuildPatch,
  ReplicaPatch,
  SnapshotPatch,
  SpaceBooking,
  VolumePatch,
} from '@holdfast/core/model/changes.js';
export type { OrphanInContext } from '@holdfast/core/model/orphan.js';
export type {
  AdmissionView,
  EngineObservation,
  FleetView,
  NodeVolumes,
  VolumeView,
} from '@holdfast/core/model/views.js';

/** Condition under which a commit applies. Every write is fenced by one of these. */
export type CommitGuard =
  | {
      kind: 'volume';
      volumeId: VolumeId;
      ifVersion: number;
      /** The commit is made by the volume's own reconciler, which continues at once: the volume is marked due, and not woken. */
      looksAgain?: boolean;
    }
  | {
      kind: 'node';
      nodeId: NodeId;
      ifVersion: number;
      /** Another node that the decision counts on as it is: of two nodes that are emptied at once each would count on the other. */
      countsOn?: Pick<StorageNode, 'id' | 'version'> | undefined;
    }
  /** Admission: one at a time per cluster, so that limits are strict. */
  | { kind: 'admission'; clusterId: ClusterId; ifVersion: number }
  | { kind: 'orphan'; orphanId: OrphanId; ifVersion: number }
  | { kind: 'new' };

/** When a volume's reconciler has to look at it next. */
export type VolumeDue = {
  /** `undefined`: not before something marks it due. */
  readonly at: Date | undefined;
  /** Grows with every mark: two in one moment differ. */
  readonly marks: number;
};

/** A due volume's place in their list: in the order of their times, and of their ids where these are equal. */
export type DuePlace = { readonly volumeId: VolumeId; readonly at: Date };
export type DueVolume = DuePlace & { readonly party: string };

/** A page of the volumes of one lane that are due; without a lane of all. */
export type DuePage = {
  readonly now: Date;
  readonly limit: number;
  readonly after?: DuePlace | undefined;
  readonly lane?: Lane | undefined;
};

/** The time of a volume that was marked: before any clock's present, so that clocks that differ delay no volume. */
export const DUE_AT_ONCE = new Date(0);

/** One batch of a fan-out: what its change was of, and whether all volumes that it concerns are marked by now. */
export type FanOutBatch = { readonly of: 'node' | 'disk' | 'cluster'; readonly isDone: boolean };

/** A node reports up to 10,000 copies; a longer list of strays is of no use, and the rest follows as these go. */
export const ORPHANS_OF_NODE_MAX = 1_000;

export type FoundCopiesOf =
  | { readonly volumeId: VolumeId }
  | { readonly after: VolumeId | undefined; readonly limit: number };

export type HeartbeatStored = {
  nodeId: NodeId;
  disks?: DiskWishes | undefined;
  /** Stamps of its disks that are stored, and that the agent may rely on. */
  stamps?: HeartbeatReply['stamps'];
  /** Names the report, where its agent may do so instead of sending it again. */
  reportId?: string | undefined;
};

/**
 * The store: what is wanted and observed. In production Postgres; in tests and the simulator, memory with the same semantics (a
 * shared contract test holds both to it).
 *
 * Each commit also writes an outbox row for every volume and cluster it touched, in the same transaction; the relay turns those into
 * wake-ups. The same transaction marks those volumes due (`reconcile_due_at`), and so does each heartbeat that brings news of a
 * volume: a wake-up may be lost, a mark stays until `recordDue` moves it. The volume of a guard with `looksAgain` is marked only.
 *
 * A change of a node, a disk or a setting concerns many volumes. Its transaction stores a fan-out, and `fanOut` marks the volumes in
 * batches.
 *
 * A commit that creates a volume with a `fill` counts the source volume up.
 *
 * @throws StorageFault `snapshot.in_use` when the source of a new volume's data no longer exists; `store.conflict` when a guard no
 * longer holds, a booking no longer fits, or the database saw a serialisation conflict: reload and decide again. `store.unavailable`
 * when it can't be reached.
 */
export interface Store {
  /** `due` is of the same moment as the view. */
  loadVolume(volumeId: VolumeId): Promise<(VolumeView & { readonly due: VolumeDue }) | undefined>;
  loadFleet(clusterId: ClusterId): Promise<FleetView>;
  /** Volumes with a replica on the node, or their engine, with all their replicas and their active rebuilds. */
  loadNodeVolumes(clusterId: ClusterId, nodeId: NodeId): Promise<NodeVolumes>;
  /**
   * Volumes with a replica on one of the disks, with their engine on one of the nodes, with an active rebuild, or degraded or
   * faulted; at most `limit`, by id, each with all its replicas and its active rebuilds.
   */
  loadAffectedVolumes(clusterId: ClusterId, places: AffectedPlaces, limit: number): Promise<NodeVolumes>;
  /** The cluster's successful rebuilds, the last queued one first; at most `limit`. */
  loadRebuildSpeeds(clusterId: ClusterId, limit: number): Promise<RebuildSpeed[]>;
  /**
   * The inputs of admission, under one version.
   * - `ending`: cancelled and failed rebuilds that an engine may still be running. They were started under the epoch of the volume's
   *   present attachment, in the same incarnation of its agent; its last report lists them as running, or does not list them and is
   *   missing or no later than `START_CALL_MS_MAX` after their end.
   * - `blocked`: volumes with a hold (which is reported first) or a layer task; not one whose purge waits for admission.
   * - `waiting`: background tasks that are not admitted, of volumes attached on a Ready node that need a purge or a fill and have no
   *   running rebuild: at most `limit`, the longest wait first.
   * - `candidates`: at most `limit` attached, healthy volumes that are not admitted to hashing, whose integrity is not disabled and
   *   that have a user's snapshot. First those with a waiting automatic hash, then those that were not checked since the cron's last
   *   time and whose oldest snapshot is older than that, the longest unchecked first.
   */
  loadAdmissions(
    clusterId: ClusterId,
    options: { now: Date; limit: number },
  ): Promise<AdmissionView & { readonly version: number }>;
  /**
   * Orphans on Ready disks of Ready nodes, at most `limit`: first those that a user wants removed, then those that are
   * not announced, then those that are not described, then the oldest.
   */
  loadOrphans(clusterId: ClusterId, limit: number): Promise<OrphansView>;
  loadOrphan(orphanId: OrphanId): Promise<OrphanInContext | undefined>;
  /**
   * Announced orphans by the volume in their description: all of at most `limit` volumes, in the order of their ids, after `after`,
   * or of the named volume.
   */
  loadFoundCopies(clusterId: ClusterId, of: FoundCopiesOf): Promise<OrphanInContext[]>;
  /** Volumes that are due at `now`, the longest due one first; at most `limit` after `after`. */
  listDueVolumes(page: DuePage): Promise<DueVolume[]>;
  /**
   * Sets when the volume is due next, which clears its mark, unless it has been marked since `ifMarks` was read. Returns
   * whether it was set. Wakes no reconciler, and is no change of the volume: its version stays.
   */
  recordDue(volumeId: VolumeId, due: { at: Date | undefined; ifMarks: number }): Promise<boolean>;
  /**
   * Marks and wakes the next volumes, at most `limit`, that are affected by a change of the cluster's nodes, disks or settings. For a
   * node these are the volumes with a replica or their engine there, and those that wait for a node to attach to; for a disk those
   * with a replica there; for a setting all. A fan-out resumes after its last batch, in any process. If its subject changes meanwhile
   * it is repeated at its end. Settings come last: they affect most volumes, and no user waits for them. `undefined`: no fan-out is
   * left.
   */
  fanOut(clusterId: ClusterId, limit: number): Promise<FanOutBatch | undefined>;
  listClusters(): Promise<ClusterId[]>;
  agentOf(nodeId: NodeId): Promise<AgentTarget | undefined>;
  /** @throws StorageFault `store.conflict`, `quota.exceeded` when it would pass a limit of the organization or project */
  commit(guard: CommitGuard, changes: readonly Change[]): Promise<void>;
  /**
   * Stores an agent's report: node and disk facts, written bytes, engine observations. Wakes the volumes whose engine reports a
   * change of its state, modes or rebuilds, not the others. Creates node and disks at the first report.
   *
   * A new boot id means that the node's engines have ended: its volumes are `attaching` again and have no address until a reconciler
   * has granted the attachment again, so that no client gets an address without a server. A fan-out marks the other volumes of the
   * node.
   *
   * `now` is for tests: if it is left out, or in the future, the database's time is used. A second agent under the node's name is
   * refused (see `judgeAgent`), with one event.
   *
   * A copy on a ready disk of this node without a replica row becomes an orphan, until that disk is ready and the copy is not
   * reported. At most `ORPHANS_OF_NODE_MAX` of a node are kept.
   *
   * @param newNodeId id for a node that reports for the first time; default: a new one
   * @returns also the desired disks of the node, for its agent
   * @throws StorageFault `node.name_taken`
   */
  recordHeartbeat(
    clusterId: ClusterId,
    heartbeat: Heartbeat,
    now?: Date,
    newNodeId?: NodeId,
  ): Promise<HeartbeatStored>;
  /**
   * Records smaller members on behalf of an engine, if `record.epoch` is still the volume's, under the grant that the
   * engine works under where it names one.
   *
   * @param askedBy node of the agent that asks. The volume must be attached to it, and each member must be a replica of the
   * volume or a member of the record before.
   * @throws StorageFault `engine.stale_epoch` when a newer attachment exists, or another grant of this one, or it is attached
   * elsewhere; `engine.record_refused` for members that are none of the volume's
   */
  confirmRecord(volumeId: VolumeId, record: CopyRecord, grantId?: string, askedBy?: NodeId): Promise<void>;
}
