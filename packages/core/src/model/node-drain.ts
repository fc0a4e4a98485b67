/**
 * Drain of a node: it takes no new replicas, its replicas are moved off it if the policy says so, and it counts as drained once it
 * may be switched off under that policy (docs/adr/0156-drain-policies.md).
 */
import type { ReplicaId, VolumeId } from './ids.js';

/** When a node may be switched off. The names are Longhorn's. */
export const DRAIN_POLICIES = [
  'block-if-contains-last-replica',
  'allow-if-replica-is-stopped',
  'always-allow',
  'block-for-eviction',
  'block-for-eviction-if-contains-last-replica',
] as const;
export type DrainPolicy = (typeof DRAIN_POLICIES)[number];

/** The request: it stands until the drain is cancelled or the node uncordoned, also once the node is drained. */
export type NodeDrain = {
  readonly policy: DrainPolicy;
  readonly requestedAt: Date;
  /** Was the node cordoned before? Then it stays so when the drain is cancelled. */
  readonly wasCordoned: boolean;
};

/**
 * `draining`: copies or engines are being moved. `blocked`: the rest waits for a user or another node. `drained`: the node may be
 * switched off.
 */
export type DrainState = 'draining' | 'blocked' | 'drained';

/** Why a drain is not over yet. Codes are API: add freely, never rename or reuse one. */
export const DRAIN_WAIT_REASONS = [
  'EngineRunning',
  'EngineStopping',
  'EngineUnreachable',
  'LastCopy',
  'NoPlace',
  'RebuildsStopped',
  'CopyAwaited',
  'Rebuilding',
  'Leaving',
] as const;
export type DrainWaitReason = (typeof DRAIN_WAIT_REASONS)[number];

/** One thing that a drain waits for. */
export type DrainWait = {
  readonly volumeId: VolumeId;
  readonly volumeName: string;
  /** `undefined`: it waits for the volume's engine. */
  readonly replicaId: ReplicaId | undefined;
  readonly reason: DrainWaitReason;
  readonly message: string;
  readonly cures: readonly string[];
};

/** How much a drain moves. Replicas that its policy lets stay are not counted. */
export type DrainProgress = {
  readonly replicasToMove: number;
  readonly replicasMoved: number;
  readonly bytesToMove: number;
  readonly bytesMoved: number;
};

/** Progress of a drain, as the cluster's reconciler last found it. */
export type NodeDrainStatus = {
  readonly state: DrainState;
  /** Since when it is in this state. */
  readonly since: Date;
  readonly progress: DrainProgress;
  /** Number of all that it waits for; `waitingFor` lists the first of it, blocked ones first. */
  readonly waitingCount: number;
  readonly waitingFor: readonly DrainWait[];
};

/** Does the policy move replicas off the node? */
export function isEvictingPolicy(policy: DrainPolicy): boolean {
  return policy === 'block-for-eviction' || policy === 'block-for-eviction-if-contains-last-replica';
}
