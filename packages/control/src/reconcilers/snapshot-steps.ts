/**
 * Steps on single snapshots: taking, deleting and hashing. A refusal is recorded on the snapshot, so that the volume's other steps
 * continue; the plan retries after a pause.
 */
import { hashAnswered, snapshotRefused, withError } from '@holdfast/core/lifecycle/conclude-layer-task.js';
import { refusedRun } from '@holdfast/core/lifecycle/plan-recurring-snapshots.js';
import type { StepOf } from '@holdfast/core/lifecycle/step.js';
import type { EngineCommandName, EngineRequest } from '@holdfast/core/model/engine-commands.js';
import { isFault, type StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import type { VolumeView } from '../ports/store.js';
import { askEngine, recordLayers } from './layer-steps.js';
import { commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { snapshotOf } from './step-lookup.js';

/**
 * The plan's other changes are stored in the same commit, so that the snapshot is requested once. If a quota leaves no room, the run
 * is skipped, as for any other obstacle.
 */
export async function requestSnapshotStep(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshot, changes }: StepOf<'request-snapshot'>,
): Promise<StepOutcome> {
  const id = asId<Snapshot['id']>(ports.random.id());
  try {
    await commitVolume(ports, view, [{ kind: 'snapshot.create', snapshot: { ...snapshot, id } }, ...changes]);
  } catch (error) {
    if (!isFault(error, 'quota.exceeded')) throw error;
    await commitVolume(ports, view, refusedRun(view, snapshot, error.message, ports.clock.now()));
  }
  return 'continue';
}

/** The same id twice is one snapshot, so a worker that dies before it has recorded it takes no second one. */
export async function takeSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId }: StepOf<'take-snapshot'>,
): Promise<StepOutcome> {
  const snapshot = snapshotOf(view, snapshotId);
  const { id, name, origin, createdAt } = snapshot;
  const refusal = await ask(ports, view, 'take-snapshot', {
    epoch: view.volume.epoch,
    snapshot: { id, name, origin, createdAt: createdAt.toISOString() },
  });
  if (refusal === undefined) return recordLayers(ports, view, undefined);
  await commitVolume(ports, view, snapshotRefused(view, snapshot, refusal, ports.clock.now()));
  return 'continue';
}

export async function removeSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId }: StepOf<'remove-snapshot'>,
): Promise<StepOutcome> {
  const refusal = await ask(ports, view, 'remove-snapshot', { epoch: view.volume.epoch, snapshotId });
  // A layer that no longer exists is as wanted: reading the layers finds that out.
  if (refusal === undefined || refusal.code === 'snapshot.not_found')
    return recordLayers(ports, view, undefined);
  await commitVolume(ports, view, withError(snapshotOf(view, snapshotId), refusal, ports.clock.now()));
  return 'continue';
}

export async function hashSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId, force }: StepOf<'hash-snapshot'>,
): Promise<StepOutcome> {
  const { epoch } = view.volume;
  const refusal = await ask(ports, view, 'hash-snapshot', { epoch, snapshotId, force });
  const changes = hashAnswered(view, snapshotOf(view, snapshotId), refusal, ports.clock.now());
  await commitVolume(ports, view, changes);
  return 'continue';
}

/** The refusal of the engine's agent; `undefined` when it has carried out the request. */
async function ask<Name extends EngineCommandName>(
  ports: ReconcilerPorts,
  view: VolumeView,
  name: Name,
  told: EngineRequest<Name>,
): Promise<StorageFault | undefined> {
  try {
    await askEngine(ports, view, name, told);
    return undefined;
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    return error;
  }
}
