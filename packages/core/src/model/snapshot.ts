import type { SnapshotId, VolumeId } from './ids.js';

/**
 * State of a snapshot. `creating` until all copies have taken it; `removing` until all copies have marked it as
 * deleted; `removed` until a purge takes its layer out, and the row with it. `failed`: it can't be taken, `trouble`
 * says why.
 */
export type SnapshotState = 'creating' | 'ready' | 'removing' | 'removed' | 'failed';

/** Result of the last try. The next one waits a while. */
export type Trouble = { message: string; at: Date };

/** A frozen layer. The head is the one layer that takes writes; it is not a snapshot. */
export type Snapshot = {
  id: SnapshotId;
  volumeId: VolumeId;
  /** Unique among the volume's existing or requested user snapshots. */
  name: string;
  /** `system` snapshots are made by rebuilds, and the worker may clean them up; `user` ones only go when a user asks. */
  origin: 'user' | 'system';
  state: SnapshotState;
  /** The schedule that took it, and that may delete it again (`RecurringSnapshot.name`). */
  recurringName: string | undefined;
  parentId: SnapshotId | undefined;
  /** Bytes in its own layer: the blocks written since its parent. */
  sizeBytes: number;
  /** Per current copy; null where it has not been hashed since its files changed. */
  checksums: readonly { replicaId: string; checksum: string | null }[];
  /** Wanted: a hash of it on every copy. */
  hashRequest: HashRequest | undefined;
  trouble: Trouble | undefined;
  createdAt: Date;
};

export type HashRequest = {
  requestedAt: Date;
  /** Also where nothing has changed since it was last hashed: finds what the disk did to it. */
  force: boolean;
  /** The worker's own request and not a user's: it waits for the volume's admission (`HashingAdmission`). */
  automatic: boolean;
  /** The attachment whose engine got the request; another one does not know it. */
  startedEpoch: number | undefined;
};

/** User snapshots a volume may have: of 250 layers some are kept for rebuilds, so that a full chain never blocks one. */
export const USER_SNAPSHOTS_MAX = 239;

/** Checksum on which all hashed copies agree; `undefined` when none was hashed, or they differ. */
export function agreedChecksum({ checksums }: Pick<Snapshot, 'checksums'>): string | undefined {
  const known = new Set(checksums.flatMap(({ checksum }) => (checksum === null ? [] : [checksum])));
  const [only] = known;
  return known.size === 1 ? only : undefined;
}

/** A snapshot that exists for users: neither deleted nor never taken. */
export function isLiveSnapshot({ origin, state }: Pick<Snapshot, 'origin' | 'state'>): boolean {
  return origin === 'user' && (state === 'creating' || state === 'ready');
}

/** The snapshots requested by a schedule, newest first; none for a snapshot without a schedule. */
export function snapshotsOfSchedule(
  snapshots: readonly Snapshot[],
  recurringName: string | undefined,
): Snapshot[] {
  if (recurringName === undefined) return [];
  return snapshots
    .filter((snapshot) => snapshot.origin === 'user' && snapshot.recurringName === recurringName)
    .sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime() || (a.id < b.id ? 1 : -1));
}
