import type { Change, SpaceBooking } from '../model/changes.js';
import type { NodeId, RebuildId, ReplicaId, SnapshotId } from '../model/ids.js';
import type { RebuildTuning } from '../model/rebuild.js';
import type { Relocation } from '../model/relocation.js';
import type { Snapshot } from '../model/snapshot.js';

/**
 * One thing to do for a volume. It leaves no choice open: control only fills in ids and secrets, calls, and records.
 * Every step may be repeated, because the process can die between the effect and its record.
 */
export type Step =
  /**
   * Nothing can be done now, and in an unchanged view not before `until` either; left out: time alone changes nothing.
   * A commit, a heartbeat or a change of the fleet that concerns the volume makes it due sooner.
   */
  | { kind: 'idle'; until?: Date }
  | { kind: 'commit'; why: string; changes: readonly Change[] }
  /** Makes the directory of a placed replica, and records it. `firstCopy`: the volume has never been written. */
  | { kind: 'provision'; replicaId: ReplicaId; nodeId: NodeId; firstCopy: boolean }
  /** Books a place for a further replica, which a rebuild will fill. */
  | {
      kind: 'add-replica';
      nodeId: NodeId;
      booking: SpaceBooking;
      /** Set when it is to replace another one. */
      relocation?: Relocation;
      /** Changes recorded with it. */
      changes?: readonly Change[];
    }
  /** Chooses the engine's node for a new epoch, which fences off every older engine. */
  | { kind: 'grant-attachment'; nodeId: NodeId; why: string }
  /** Fences the copies at the granted epoch, decides which are current and starts the engine on them. */
  | { kind: 'start-engine'; nodeId: NodeId }
  /** Tells the running engine the timeout in force, in milliseconds. */
  | { kind: 'set-replica-timeout'; replicaTimeoutMs: number }
  /** `askAgent` false: the holder is dead and the detach was forced, so only the record is changed. */
  | { kind: 'stop-engine'; nodeId: NodeId; epoch: number; askAgent: boolean; mayFail: boolean }
  | { kind: 'queue-rebuild'; replicaId: ReplicaId; sourceReplicaIds: readonly ReplicaId[]; reuse: boolean }
  /** Has the engine of the attachment that is recorded with it run an admitted rebuild. */
  | { kind: 'start-rebuild'; rebuildId: RebuildId }
  /** Informs the engine of a pause, its end, or a new rate. */
  | { kind: 'tune-rebuild'; rebuildId: RebuildId; tuning: RebuildTuning }
  | { kind: 'cancel-rebuild'; rebuildId: RebuildId }
  /** Takes a replica out of the running engine, which then counts as failed. */
  | { kind: 'drop-replica'; replicaId: ReplicaId; reason: string }
  /** Deletes the directory, then the row. `nodeId` undefined: the directory can't be reached and becomes an orphan. */
  | { kind: 'remove-replica'; replicaId: ReplicaId; nodeId: NodeId | undefined }
  /** Requests the engine of a new volume to copy its clone source. */
  | { kind: 'fill-volume' }
  /** Asks for a snapshot, which gets an id with its row, and records in the same commit what else is known of it. */
  | { kind: 'request-snapshot'; snapshot: Omit<Snapshot, 'id'>; changes: readonly Change[] }
  | { kind: 'take-snapshot'; snapshotId: SnapshotId }
  /** Marks it as deleted on all copies; a purge takes it out. */
  | { kind: 'remove-snapshot'; snapshotId: SnapshotId }
  | { kind: 'hash-snapshot'; snapshotId: SnapshotId; force: boolean }
  /** Asks the engine for what the volume's layer task says. */
  | { kind: 'change-layers' }
  /** Wakes the cluster's reconciler, which admits purges and fillings. */
  | { kind: 'request-admission' }
  /** Asks the engine which layers there are, and records them. */
  | { kind: 'read-layers' }
  | { kind: 'verify'; replicaIds: readonly ReplicaId[] };

export type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;
