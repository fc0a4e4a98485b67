/**
 * Relocation of a copy: it moves to another place. The new replica is built first and carries this; when it is a full copy, the
 * replaced one is removed. A volume has one at most, and never fewer full copies than it wants because of it
 * (docs/adr/0160-relocation-by-replacement.md).
 */
import type { DiskId, NodeId, ReplicaId, VolumeId } from './ids.js';

/**
 * Reason of a move: a user's request, a place that no longer matches the volume's selectors, no copy on the engine's node, or an
 * uneven spread of the volume's copies.
 */
export const RELOCATION_REASONS = ['requested', 'selector', 'locality', 'balance'] as const;
export type RelocationReason = (typeof RELOCATION_REASONS)[number];

export type Place = { readonly nodeId: NodeId; readonly diskId: DiskId };

export type Relocation = {
  readonly reason: RelocationReason;
  /** The copy that goes afterwards, and where it was. */
  readonly replacesId: ReplicaId;
  readonly from: Place;
  /** Its gain, in words for users. */
  readonly gain: string;
  /** Bytes to copy, as known when it began: counted by the bound of auto-balance. */
  readonly bytes: number;
  readonly at: Date;
};

/** The relocations of a cluster that are under way. */
export type ClusterRelocations = {
  /** Grows with each that auto-balance begins, so that of two begun at once the second is decided again. */
  readonly version: number;
  readonly underWay: readonly { readonly volumeId: VolumeId; readonly relocation: Relocation }[];
};

export const NO_RELOCATIONS: ClusterRelocations = { version: 1, underWay: [] };

/** A move that auto-balance made. `at` is its end, or its beginning while it is under way. */
export type BalanceMove = { readonly from: Place; readonly to: Place; readonly at: Date };

/** Auto-balance's record of a volume. */
export type BalanceHistory = {
  /** The last ones, oldest first. */
  readonly moves: readonly BalanceMove[];
  /** Set when its copies went to and fro: it is left alone until a user sets its `replicaAutoBalance` again. */
  readonly stoppedAt: Date | undefined;
};
