import type { DiskId, NodeId, ReplicaId, VolumeId } from './ids.js';
import type { Relocation } from './relocation.js';
import type { StoredExplanation } from './stored-explanation.js';

/** How the engine uses a replica. WO is being rebuilt: it gets every write and serves no read. */
export type ReplicaMode = 'RW' | 'WO' | 'ERR';

export type ReplicaState = 'running' | 'stopped' | 'rebuilding' | 'failed';

/** Wanted state of a replica. `evict`: replace it first, then remove it. `remove`: drop it now. */
export type ReplicaIntent = 'keep' | 'evict' | 'remove';

/** One copy of one volume on one disk. */
export type Replica = {
  id: ReplicaId;
  volumeId: VolumeId;
  /** `undefined` while no disk could be found; such a row exists only for a volume's first replicas. */
  nodeId: NodeId | undefined;
  diskId: DiskId | undefined;
  sizeBytes: number;
  intent: ReplicaIntent;
  /** As the planner concluded from the engine's answers and reports; `undefined` while no engine runs. */
  mode: ReplicaMode | undefined;
  /** True once the agent has made the replica's directory. */
  provisioned: boolean;
  /** When it last became a full copy. Cleared when a rebuild of it begins. */
  healthyAt: Date | undefined;
  lastHealthyAt: Date | undefined;
  /** When it stopped being one. Cleared when it is reused. A replica with it set is never read. */
  failedAt: Date | undefined;
  lastFailedAt: Date | undefined;
  failure: ReplicaFailure | undefined;
  /** Why it has no place; cleared when it gets one. */
  explanation: StoredExplanation | undefined;
  /** Set while it replaces another copy, until that one is removed. */
  relocation?: Relocation | undefined;
  /** Counted reuses whose rebuild failed; at REBUILD_RETRIES_MAX the replica is given up, as Longhorn does (docs/longhorn-rules.md). */
  rebuildRetryCount: number;
  /**
   * Since when its node reports all copies on the replica's disk and not this one. `undefined`: it was among those reported last,
   * or nothing is known.
   */
  unreportedSince?: Date | undefined;
  writtenBytes: number;
  /** Shared with the engine that may open this replica, never shown to users. */
  secret: string;
  createdAt: Date;
  version: number;
};

type NewReplica = Pick<Replica, 'id' | 'volumeId' | 'sizeBytes' | 'secret' | 'createdAt' | 'relocation'>;
type Place = Pick<Replica, 'nodeId' | 'diskId'>;

const NOWHERE: Place = { nodeId: undefined, diskId: undefined };

/** A replica that nothing has happened to yet, with its place where it has one. */
export function newReplica(facts: NewReplica, place: Place = NOWHERE): Replica {
  return {
    ...facts,
    ...place,
    intent: 'keep',
    mode: undefined,
    provisioned: false,
    healthyAt: undefined,
    lastHealthyAt: undefined,
    failedAt: undefined,
    lastFailedAt: undefined,
    failure: undefined,
    explanation: undefined,
    rebuildRetryCount: 0,
    writtenBytes: 0,
    version: 1,
  };
}

export type ReplicaFailure = { reason: string; message: string };

export const REBUILD_RETRIES_MAX = 5;

/** A full copy as far as the control plane knows. The copies' own records decide at attach. */
export function isHealthy(replica: Pick<Replica, 'healthyAt' | 'failedAt'>): boolean {
  return replica.healthyAt !== undefined && replica.failedAt === undefined;
}

export function isFailed(replica: Replica): boolean {
  return replica.failedAt !== undefined;
}

/** A failed replica whose directory may be brought up to date again (docs/longhorn-rules.md, reuse). */
export function isPotentiallyReusable(replica: Replica): boolean {
  return (
    replica.failedAt !== undefined &&
    replica.nodeId !== undefined &&
    replica.diskId !== undefined &&
    replica.rebuildRetryCount < REBUILD_RETRIES_MAX &&
    replica.intent === 'keep'
  );
}

/** The state that users see, derived from the facts above so that the two can't disagree. */
export function replicaState(replica: Pick<Replica, 'mode'> & { readonly failedAt: unknown }): ReplicaState {
  if (replica.failedAt !== undefined || replica.mode === 'ERR') return 'failed';
  if (replica.mode === 'RW') return 'running';
  if (replica.mode === 'WO') return 'rebuilding';
  return 'stopped';
}
