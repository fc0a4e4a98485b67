/** Decides whether a snapshot may be taken or deleted, for users' requests and recurring snapshots alike. */
import type { Change } from '../model/changes.js';
import type { FaultCode } from '../model/faults.js';
import type { VolumeId } from '../model/ids.js';
import { isLiveSnapshot, type Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import { effectiveValue } from './volume-settings.js';

export type SnapshotDecision =
  | { readonly kind: 'allow' }
  | {
      readonly kind: 'refuse';
      readonly code: FaultCode;
      readonly why: string;
      readonly cures: readonly string[];
    };

const ALLOWED: SnapshotDecision = { kind: 'allow' };

/** User snapshots that a volume may have, deleted ones counted until they are purged. */
export function snapshotsMax({ volume, fleet }: Pick<VolumeView, 'volume' | 'fleet'>): number {
  return effectiveValue(volume.spec, fleet.settings, 'snapshotMaxCount');
}

export function decideSnapshot(view: VolumeView, name: string): SnapshotDecision {
  const { volume, snapshots } = view;
  if (snapshots.some((snapshot) => isLiveSnapshot(snapshot) && snapshot.name === name)) {
    return refuse('snapshot.name_taken', `volume ${volume.name} has a snapshot named ${name}`);
  }
  // Deleted ones are still layers until a purge has taken them out.
  const layers = snapshots.filter(({ origin, state }) => origin === 'user' && state !== 'failed').length;
  const max = snapshotsMax(view);
  if (layers < max) return ALLOWED;
  const why = `volume ${volume.name} has ${layers} snapshots, and may have ${max}`;
  return refuse('snapshot.limit_reached', why, ['delete snapshots that are not needed, and purge']);
}

export function decideSnapshotDeletion({ volume, clones }: VolumeView, snapshot: Snapshot): SnapshotDecision {
  const { id, name, state } = snapshot;
  if (state === 'creating') return refuse('snapshot.in_use', `snapshot ${name} is being taken`);
  if (clones.some(({ snapshotId }) => snapshotId === id)) {
    return refuse('snapshot.in_use', `a volume is being cloned from snapshot ${name}`);
  }
  const task = volume.layerTask;
  if (task?.kind === 'revert' && task.snapshotId === id) {
    return refuse('snapshot.in_use', `the volume is being reverted to snapshot ${name}`);
  }
  return ALLOWED;
}

export function deletionChange({ id }: Snapshot): Change {
  const patch = { state: 'removing' as const, hashRequest: undefined, trouble: undefined };
  return { kind: 'snapshot.patch', snapshotId: id, patch };
}

/** A user snapshot as it is before its engine has taken it; its row gets an id when it is stored. */
export function wantedSnapshot(
  volumeId: VolumeId,
  { name, recurringName }: Pick<Snapshot, 'name' | 'recurringName'>,
  now: Date,
): Omit<Snapshot, 'id'> {
  return {
    volumeId,
    name,
    origin: 'user',
    state: 'creating',
    recurringName,
    parentId: undefined,
    sizeBytes: 0,
    checksums: [],
    hashRequest: undefined,
    trouble: undefined,
    createdAt: now,
  };
}

function refuse(code: FaultCode, why: string, cures: readonly string[] = []): SnapshotDecision {
  return { kind: 'refuse', code, why, cures };
}
