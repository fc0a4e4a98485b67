/** Use cases of snapshots: users ask, and the worker does it while the volume is attached. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import { type LayerChange, newLayerTask } from '@holdfast/core/model/layer-task.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { actionFacts } from '@holdfast/core/policy/action-facts.js';
import { decidePurge } from '@holdfast/core/policy/decide-purge.js';
import {
  decideHash,
  decideRevert,
  decideSnapshot,
  decideSnapshotDeletion,
  deletionChange,
  snapshotsMax,
  wantedSnapshot,
} from '@holdfast/core/policy/decide-snapshot.js';
import type { Change, VolumeView } from '../ports/store.js';
import { assertNotDeleting, hasToAct, loadVolume, retryConflicts, type UseCasePorts } from './use-case.js';

type SnapshotKey = { volumeId: VolumeId; snapshotId: SnapshotId };

/**
 * Asks for a snapshot.
 *
 * @throws StorageFault `volume.not_attached`, `snapshot.name_taken`, `snapshot.limit_reached`
 */
export async function requestSnapshot(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; name: string },
): Promise<SnapshotId> {
  const id = asId<SnapshotId>(ports.random.id());
  await changeVolume(ports, input.volumeId, (view) => {
    const room = { snapshots: view.snapshots, max: snapshotsMax(view) };
    if (!hasToAct(decideSnapshot(actionFacts(view), room, input.name))) return [];
    const wanted = { name: input.name, recurringName: undefined };
    const snapshot = { ...wantedSnapshot(input.volumeId, wanted, ports.clock.now()), id };
    return [{ kind: 'snapshot.create', snapshot }];
  });
  return id;
}

/**
 * Asks for a snapshot to be deleted. Repeating it changes nothing.
 *
 * @throws StorageFault `snapshot.not_found`, `snapshot.in_use` while it is being taken, `volume.not_attached`
 */
export function requestSnapshotDeletion(ports: UseCasePorts, key: SnapshotKey): Promise<void> {
  return changeVolume(ports, key.volumeId, (view) => {
    const snapshot = requireSnapshot(view, key.snapshotId);
    if (!hasToAct(decideSnapshotDeletion(actionFacts(view), snapshot))) return [];
    const isNowhere = snapshot.state === 'failed';
    return [isNowhere ? { kind: 'snapshot.delete', snapshotId: snapshot.id } : deletionChange(snapshot)];
  });
}

/**
 * Asks for deleted layers, and those that rebuilds left behind, to be taken out.
 *
 * @throws StorageFault `volume.not_attached`, `volume.busy`
 */
export function requestPurge(
  ports: UseCasePorts,
  input: { volumeId: VolumeId; ifVersion?: number | undefined },
): Promise<void> {
  const purge = (view: VolumeView) => {
    const isSwitchedOff = view.fleet.settings['disable-snapshot-purge'];
    if (!hasToAct(decidePurge(actionFacts(view), isSwitchedOff))) return [];
    return [taskPatch(ports, view, { kind: 'purge' })];
  };
  return changeVolume(ports, input.volumeId, purge, input.ifVersion);
}

/**
 * Requests a hash of a snapshot on every copy: a damaged copy is dropped and rebuilt.
 *
 * @param input.force also if nothing has changed since it was last hashed
 * @throws StorageFault `snapshot.not_found`, `snapshot.in_use` when it can't be read, `volume.not_attached`
 */
export function requestHash(ports: UseCasePorts, input: SnapshotKey & { force: boolean }): Promise<void> {
  return changeVolume(ports, input.volumeId, (view) => {
    const snapshot = requireSnapshot(view, input.snapshotId);
    const known = snapshot.hashRequest;
    const isBeingHashed =
      known !== undefined && (!known.automatic || known.startedEpoch === view.volume.epoch);
    if (!hasToAct(decideHash(actionFacts(view), { ...snapshot, isBeingHashed }))) return [];
    // A hash that waits for admission is done at once when a user requests it.
    const force = input.force || known?.force === true;
    const hashRequest = { requestedAt: ports.clock.now(), force, automatic: false, startedEpoch: undefined };
    const patch = { hashRequest, trouble: undefined };
    return [{ kind: 'snapshot.patch', snapshotId: snapshot.id, patch }];
  });
}

/**
 * Asks for the volume to read again as it did when the snapshot was taken. The engine refuses it while a client is
 * connected, whose caches would then be wrong; that ends the request with an event.
 *
 * @throws StorageFault `snapshot.not_found`, `snapshot.in_use`, `volume.not_attached`, `volume.busy`
 */
export function requestRevert(
  ports: UseCasePorts,
  key: SnapshotKey & { ifVersion?: number | undefined },
): Promise<void> {
  const revert = (view: VolumeView) => {
    const snapshot = requireSnapshot(view, key.snapshotId);
    if (!hasToAct(decideRevert(actionFacts(view), snapshot))) return [];
    return [taskPatch(ports, view, { kind: 'revert', snapshotId: snapshot.id })];
  };
  return changeVolume(ports, key.volumeId, revert, key.ifVersion);
}

/** Requests a change of all layers. A pending purge gives way: the next one does its rest. */
export function taskPatch(
  { clock, random }: UseCasePorts,
  { volume }: VolumeView,
  change: LayerChange,
): Change {
  const task = newLayerTask(change, { id: random.id(), requestedAt: clock.now() });
  return { kind: 'volume.patch', volumeId: volume.id, patch: { task } };
}

/** Reads, decides and commits under the volume's version; no change is no commit. */
export function changeVolume(
  { store }: UseCasePorts,
  volumeId: VolumeId,
  decide: (view: VolumeView) => readonly Change[],
  ifVersion?: number,
): Promise<void> {
  return retryConflicts(async () => {
    const view = await loadVolume(store, volumeId, ifVersion);
    assertNotDeleting(view.volume);
    const changes = decide(view);
    if (changes.length === 0) return;
    await store.commit({ kind: 'volume', volumeId, ifVersion: view.volume.version }, changes);
  });
}

/** @throws StorageFault `snapshot.not_found` */
export function requireSnapshot({ snapshots }: VolumeView, snapshotId: SnapshotId): Snapshot {
  const snapshot = snapshots.find(({ id }) => id === snapshotId);
  if (snapshot !== undefined) return snapshot;
  throw new StorageFault('snapshot.not_found', { publicMessage: `there is no snapshot ${snapshotId}` });
}
