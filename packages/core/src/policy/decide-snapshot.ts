/** Decides what may be done with snapshots, for users' requests and recurring snapshots alike. */
import type { Change } from '../model/changes.js';
import type { VolumeId } from '../model/ids.js';
import { isLiveSnapshot, type Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { ActionFacts } from './action-facts.js';
import { ALLOWED, type Decision, type Refusal, refuse, unchanged } from './decision.js';
import { refusalUnlessAttached, refusalWhileDeleting, refusalWhileTaskWaits } from './refusals.js';
import { effectiveValue } from './volume-settings.js';

/** A snapshot, as far as the decisions about it read it. */
export type SnapshotFacts = {
  readonly id: string;
  readonly name: string;
  readonly state: Snapshot['state'];
};

/** The snapshots that there are, and how many of users' there may be. */
export type SnapshotRoom = {
  readonly snapshots: readonly Pick<Snapshot, 'name' | 'origin' | 'state'>[];
  readonly max: number;
};

/** User snapshots that a volume may have, deleted ones counted until they are purged. */
export function snapshotsMax({ volume, fleet }: Pick<VolumeView, 'volume' | 'fleet'>): number {
  return effectiveValue(volume.spec, fleet.settings, 'snapshotMaxCount');
}

/** @param name `undefined` while it has none yet */
export function decideSnapshot(
  facts: ActionFacts,
  { snapshots, max }: SnapshotRoom,
  name: string | undefined,
): Decision {
  const refusal = refusalWhileDeleting(facts) ?? refusalUnlessAttached(facts);
  if (refusal !== undefined) return refusal;
  if (snapshots.some((snapshot) => isLiveSnapshot(snapshot) && snapshot.name === name)) {
    return refuse('snapshot.name_taken', `volume ${facts.name} has a snapshot named ${name}`);
  }
  // Deleted ones are still layers until a purge has taken them out.
  const layers = snapshots.filter(({ origin, state }) => origin === 'user' && state !== 'failed').length;
  if (layers < max) return ALLOWED;
  const why = `volume ${facts.name} has ${layers} snapshots, and may have ${max}`;
  return refuse('snapshot.limit_reached', why, ['delete snapshots that are not needed, and purge']);
}

export function decideSnapshotDeletion(facts: ActionFacts, snapshot: SnapshotFacts): Decision {
  const deleting = refusalWhileDeleting(facts);
  if (deleting !== undefined) return deleting;
  // One that failed is on no copy, so no engine is needed to delete it.
  if (snapshot.state === 'failed') return ALLOWED;
  if (snapshot.state === 'removing' || snapshot.state === 'removed') {
    return unchanged(`snapshot ${snapshot.name} is deleted already`);
  }
  return refusalUnlessAttached(facts) ?? refusalWhileNeeded(facts, snapshot) ?? ALLOWED;
}

/** What a snapshot is needed for, so that it must stay. */
export function refusalWhileNeeded(
  { clonedSnapshotIds, task }: Pick<ActionFacts, 'clonedSnapshotIds' | 'task'>,
  { id, name, state }: SnapshotFacts,
): Refusal<'snapshot.in_use'> | undefined {
  if (state === 'creating') return refuse('snapshot.in_use', `snapshot ${name} is being taken`);
  if (clonedSnapshotIds.includes(id)) {
    return refuse('snapshot.in_use', `a volume is being cloned from snapshot ${name}`);
  }
  if (task?.kind === 'revert' && task.snapshotId === id) {
    return refuse('snapshot.in_use', `the volume is being reverted to snapshot ${name}`);
  }
  return undefined;
}

/** May the snapshot be read by every copy, to compare checksums? */
export function decideHash(
  facts: ActionFacts,
  snapshot: SnapshotFacts & { isBeingHashed: boolean },
): Decision {
  const refusal = refusalWhileDeleting(facts) ?? refusalUnlessAttached(facts) ?? refusalUnlessReady(snapshot);
  if (refusal !== undefined) return refusal;
  return snapshot.isBeingHashed ? unchanged(`snapshot ${snapshot.name} is being hashed`) : ALLOWED;
}

/** May a new volume be made that will hold what the snapshot holds? It need not be attached: snapshots do not change. */
export function decideClone(facts: ActionFacts, snapshot: SnapshotFacts): Decision {
  return refusalWhileDeleting(facts) ?? refusalUnlessReady(snapshot) ?? ALLOWED;
}

/** May the volume be made to read as it did when the snapshot was taken? */
export function decideRevert(facts: ActionFacts, snapshot: SnapshotFacts): Decision {
  const refusal = refusalWhileDeleting(facts) ?? refusalUnlessAttached(facts) ?? refusalUnlessReady(snapshot);
  if (refusal !== undefined) return refusal;
  const { task, name } = facts;
  if (task?.kind === 'revert' && task.snapshotId === snapshot.id) {
    return unchanged(`volume ${name} is being reverted to snapshot ${snapshot.name}`);
  }
  return refusalWhileTaskWaits(facts) ?? ALLOWED;
}

function refusalUnlessReady({ name, state }: SnapshotFacts): Refusal<'snapshot.in_use'> | undefined {
  return state === 'ready' ? undefined : refuse('snapshot.in_use', `snapshot ${name} is ${state}`);
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
