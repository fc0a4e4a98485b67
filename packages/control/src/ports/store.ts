import type { Change } from '@holdfast/core/lifecycle/changes.js';
import type { OrphanInContext, OrphansView } from '@holdfast/core/lifecycle/plan-orphans.js';
import type {
  FleetView,
  RebuildQueueView,
  TaskQueueView,
  VolumeView,
} from '@holdfast/core/lifecycle/views.js';
import type { Heartbeat } from '@holdfast/core/model/agent-protocol.js';
import type { CopyRecord } from '@holdfast/core/model/copy-record.js';
import type { ClusterId, NodeId, OrphanId, VolumeId } from '@holdfast/core/model/ids.js';
import type { AgentTarget } from './agent-client.js';

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
} from '@holdfast/core/lifecycle/changes.js';
export type { OrphanInContext, OrphansView } from '@holdfast/core/lifecycle/plan-orphans.js';
export type {
  EngineObservation,
  FleetView,
  RebuildQueueView,
  TaskQueueView,
  VolumeView,
} from '@holdfast/core/lifecycle/views.js';

/** What must still be so for a commit to apply. Every write is fenced by one of these. */
export type CommitGuard =
  | { kind: 'volume'; volumeId: VolumeId; ifVersion: number }
  | { kind: 'node'; nodeId: NodeId; ifVersion: number }
  /** Admission: one at a time per cluster, so that limits are strict. */
  | { kind: 'rebuild-queue'; clusterId: ClusterId; ifVersion: number }
  | { kind: 'orphan'; orphanId: OrphanId; ifVersion: number }
  | { kind: 'new' };

/** A node reports up to 10,000 copies; a longer list of orphans is too long to read, and the rest follows as these go. */
export const ORPHANS_OF_NODE_MAX = 1_000;

/**
 * The truth about what is wanted and known. In production Postgres; in tests and the simulator, memory with the same
 * semantics (a shared contract test holds both to it).
 *
 * Each commit also writes an outbox row for every volume and cluster it touched, in the same transaction; the relay
 * turns those into wake-ups.
 *
 * A commit that creates a volume with a `fill` counts the source volume up.
 *
 * @throws StorageFault `snapshot.in_use` when what a new volume is to be filled from is not there any more;
 *   `store.conflict` when a guard no longer holds, a booking does not fit any more, or the
 *   database saw a serialisation conflict: reload and decide again. `store.unavailable` when it can't be reached.
 */
export interface Store {
  loadVolume(volumeId: VolumeId): Promise<VolumeView | undefined>;
  loadFleet(clusterId: ClusterId): Promise<FleetView>;
  /**
   * `ending` are the cancelled and failed rebuilds that were started under the epoch at which their volume is still
   * attached, in the same life of its agent, and that the engine may still run: its last report lists them as running,
   * or does not list them and is missing or no later than `START_CALL_MS_MAX` after their end. `blocked` are the volumes
   * with a hold (which is told first) or a layer task; not one whose purge waits for admission.
   */
  loadRebuildQueue(clusterId: ClusterId): Promise<RebuildQueueView & { readonly version: number }>;
  /**
   * What the admission of background tasks is decided from, under the same version as rebuilds. `busy` are admitted.
   * `waiting` are attached on a Ready node and to be purged or filled, not admitted and without a rebuild that runs: at
   * most `limit`, the longest wait first. `candidates` are at most `limit` attached, healthy volumes that are not
   * admitted to hashing, whose integrity is not disabled and that have a snapshot of a user: first those with an
   * automatic hash that waits, then, of those that were not checked since the cron's last time, those whose check is
   * the longest ago.
   */
  loadTaskQueue(
    clusterId: ClusterId,
    options: { now: Date; limit: number },
  ): Promise<TaskQueueView & { readonly version: number }>;
  /**
   * Orphans on Ready disks of Ready nodes, at most `limit`: first those that a user wants removed, then those that are
   * not announced, then the oldest.
   */
  loadOrphans(clusterId: ClusterId, limit: number): Promise<OrphansView>;
  loadOrphan(orphanId: OrphanId): Promise<OrphanInContext | undefined>;
  /**
   * Ids of volumes that may need work, in id order, at most `limit` after `afterId`: every volume whose state is not
   * `attached` or `detached`, whose robustness is not `healthy`, whose Scheduled condition is not True, whose newest
   * generation has not been observed, that is to be deleted, verified or filled, has an admitted task or is attached
   * only to be rebuilt, has an active rebuild or a replica whose intent is not `keep`, whose wanted attachment is not
   * its state, whose engine's node is not Ready or has another boot than `engineBootId`, or that is attached while no
   * report shows its engine, or while its layers are to be changed, are busy or were read in another state of its
   * engine, or that has a recurring snapshot due at `now`. A lost wake-up costs at most one period of the sweep because
   * of this list.
   */
  listVolumesToReconcile(options: { now: Date; limit: number; afterId?: VolumeId }): Promise<VolumeId[]>;
  /** Volumes with a replica or their engine on the node, in id order: they are reconciled when it dies or comes back. */
  listVolumesOfNode(nodeId: NodeId, options: { limit: number; afterId?: VolumeId }): Promise<VolumeId[]>;
  listClusters(): Promise<ClusterId[]>;
  agentOf(nodeId: NodeId): Promise<AgentTarget | undefined>;
  commit(guard: CommitGuard, changes: readonly Change[]): Promise<void>;
  /**
   * Takes over what an agent reported: node and disk facts, written bytes, engine observations. Wakes the volumes
   * whose engine, modes or rebuilds changed, not the others. Creates node and disks on first contact.
   *
   * A new boot says that the node's engines are gone: what it served is `attaching` again and has no address until a
   * reconciler has granted it anew, so that no client gets an address where nothing answers.
   *
   * `now` is for tests: left out, and where it is in the future, it is the database's own time. An agent beside the one
   * that is known under the node's name is refused (see `judgeAgent`), which one event tells.
   *
   * A copy on a ready disk of this node that no replica row stands for is an orphan from then on, and is none any more
   * when that disk is ready and the copy not reported. At most `ORPHANS_OF_NODE_MAX` of a node are kept.
   *
   * @throws StorageFault `node.name_taken`
   */
  recordHeartbeat(clusterId: ClusterId, heartbeat: Heartbeat, now?: Date): Promise<{ nodeId: NodeId }>;
  /**
   * Records smaller members on behalf of an engine, if `record.epoch` is still the volume's, under the grant that the
   * engine works under where it names one.
   * @throws StorageFault `engine.stale_epoch` when a newer attachment exists, or another grant of this one
   */
  confirmRecord(volumeId: VolumeId, record: CopyRecord, grantId?: string): Promise<void>;
}
