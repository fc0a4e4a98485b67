import type { ClusterId, NodeId, RebuildId, ReplicaId, VolumeId } from './ids.js';

export type RebuildState = 'queued' | 'running' | 'succeeded' | 'failed' | 'cancelled';

/** The steps of a rebuild in their order. */
export const REBUILD_PHASES = ['waiting', 'preparing', 'copying', 'verifying', 'promoting', 'done'] as const;
export type RebuildPhase = (typeof REBUILD_PHASES)[number];

/** How one snapshot's data got to the target. */
export const REBUILD_METHODS = ['full', 'delta', 'fast', 'ranges'] as const;
export type RebuildMethod = (typeof REBUILD_METHODS)[number];

/** Why a rebuild or a background task waits. Codes are API: add freely, never rename or reuse one. */
export const WAITING_REASONS = [
  'Paused',
  'Preempted',
  'VolumePurging',
  'VolumeReverting',
  'VolumeExpanding',
  'VolumeMigrating',
  'VolumeRestoring',
  'VolumeStandby',
  'ClusterLimit',
  'TargetNodeLimit',
  'SourceNodeLimit',
  'TaskLimit',
  'QuotaLimit',
  'QuotaZero',
] as const;
export type WaitingReason = (typeof WAITING_REASONS)[number];

export type RebuildBytes = {
  /** Bytes that the target has to hold in the end. */
  total: number;
  /** Bytes compared while copying, whether sent or skipped. */
  compared: number;
  skipped: number;
  sent: number;
  written: number;
  /** Bytes that the target has proved, after the copying, to be on its disk as at the source. */
  verified: number;
};

export type RebuildSnapshot = {
  name: string;
  method: RebuildMethod;
  /** Why that method, in words. */
  reason: string;
  bytesSent: number;
};

export const NO_BYTES: RebuildBytes = { total: 0, compared: 0, skipped: 0, sent: 0, written: 0, verified: 0 };

/**
 * One attempt to make a replica a full copy again.
 *
 * It waits in the database (`queued`) until admission lets it run; the engine then does all the work and reports
 * progress, so a worker that dies loses nothing.
 */
export type Rebuild = {
  id: RebuildId;
  clusterId: ClusterId;
  volumeId: VolumeId;
  targetReplicaId: ReplicaId;
  targetNodeId: NodeId;
  sourceReplicaIds: readonly ReplicaId[];
  sourceNodeIds: readonly NodeId[];
  state: RebuildState;
  phase: RebuildPhase;
  /** Full copies that the volume has, as long as the rebuild waits: fewest first. */
  healthyCopies: number;
  sizeBytes: number;
  /** It makes a copy that only replaces another one: it waits behind every rebuild of a missing copy. */
  relocates: boolean;
  /** Why it does not run yet; empty when it does. */
  waitingFor: string;
  /** The same as a code; `undefined` when it runs, has ended, or was not considered by admission yet. */
  waitingReason: WaitingReason | undefined;
  /** Admitted to purge before it copies: a background task, which counts as one until it begins to copy. */
  purgesFirst: boolean;
  /**
   * When it was preempted by a rebuild of a volume on its last copy; `undefined`: it was not. It continues where it was as soon as
   * there is room again.
   */
  preemptedAt: Date | undefined;
  /** Paused by a user: it does not start, or stands still while the target gets user writes. */
  paused: boolean;
  /** Bandwidth limit set by a user, in bytes per second. `undefined`: none for this rebuild. */
  bandwidthBytesPerSecond: number | undefined;
  /** Its present rate limit: its own limit, and its share of its target node's. `undefined`: unlimited. */
  grantedBytesPerSecond: number | undefined;
  /** The values last sent to its engine; `undefined`: none since its start. */
  tuned: RebuildTuning | undefined;
  /** The attachment under which it was started; an engine of another epoch does not know it. */
  epoch: number | undefined;
  bytes: RebuildBytes;
  percent: number;
  rateBytesPerSecond: number;
  snapshots: readonly RebuildSnapshot[];
  attempts: number;
  error: { code: string; message: string } | undefined;
  queuedAt: Date;
  startedAt: Date | undefined;
  finishedAt: Date | undefined;
  version: number;
};

type NewRebuild = Pick<
  Rebuild,
  | 'id'
  | 'clusterId'
  | 'volumeId'
  | 'targetReplicaId'
  | 'targetNodeId'
  | 'sourceReplicaIds'
  | 'sourceNodeIds'
  | 'healthyCopies'
  | 'sizeBytes'
  | 'relocates'
  | 'attempts'
  | 'queuedAt'
>;

/** A rebuild that waits for admission, with nothing done. */
export function newRebuild(facts: NewRebuild): Rebuild {
  return {
    ...facts,
    state: 'queued',
    phase: 'waiting',
    waitingFor: 'admission',
    waitingReason: undefined,
    paused: false,
    purgesFirst: false,
    preemptedAt: undefined,
    bandwidthBytesPerSecond: undefined,
    grantedBytesPerSecond: undefined,
    tuned: undefined,
    epoch: undefined,
    bytes: NO_BYTES,
    percent: 0,
    rateBytesPerSecond: 0,
    snapshots: [],
    error: undefined,
    startedAt: undefined,
    finishedAt: undefined,
    version: 1,
  };
}

/** Of a rebuild that runs or has ended. */
export const NOT_WAITING = { waitingFor: '', waitingReason: undefined } as const;

/** Does it copy nothing: is it paused by a user, or is it preempted? */
export function standsStill({ paused, preemptedAt }: Pick<Rebuild, 'paused' | 'preemptedAt'>): boolean {
  return paused || preemptedAt !== undefined;
}

/** True if it takes no place in any limit: it is preempted, and its engine has confirmed that. */
export function isPreempted({ preemptedAt, tuned }: Pick<Rebuild, 'preemptedAt' | 'tuned'>): boolean {
  return preemptedAt !== undefined && tuned?.paused === true;
}

export type RebuildTuning = { paused: boolean; bandwidthBytesPerSecond: number | undefined };

/** Speed of a successful rebuild: bytes sent, and duration. */
export type RebuildSpeed = { readonly bytes: number; readonly seconds: number };

/** Below this a rebuild would look stuck; agents refuse less. */
export const REBUILD_BANDWIDTH_MIN = 1_048_576;

export function isActiveRebuild(rebuild: Pick<Rebuild, 'state'>): boolean {
  return rebuild.state === 'queued' || rebuild.state === 'running';
}

/** Share done when a phase begins. */
const PHASE_START_PERCENT: Record<RebuildPhase, number> = {
  waiting: 0,
  preparing: 0,
  copying: 1,
  verifying: 1,
  promoting: 99,
  done: 100,
};
/** Share of the work between preparing and promoting. Every byte is compared once, and verified behind that. */
const COMPARED_PERCENT = 79;
const VERIFIED_PERCENT = 19;

/** Percent done. Never falls when `previous` is given and never passes 100. */
export function rebuildPercent(
  phase: RebuildPhase,
  { compared, verified, total }: Pick<RebuildBytes, 'compared' | 'verified' | 'total'>,
  previous = 0,
): number {
  const share = (bytes: number) => (total > 0 ? Math.min(1, bytes / total) : 0);
  const moved = COMPARED_PERCENT * share(compared) + VERIFIED_PERCENT * share(verified);
  const isMoving = phase === 'copying' || phase === 'verifying';
  const percent = PHASE_START_PERCENT[phase] + (isMoving ? moved : 0);
  return Math.min(100, Math.max(previous, Math.floor(percent * 10) / 10));
}
