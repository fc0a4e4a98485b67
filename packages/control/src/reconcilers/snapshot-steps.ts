/**
 * Steps on single snapshots: taking, deleting and hashing. A refusal is noted on the snapshot, so that the volume goes
 * on with what else is to be done; the plan tries again after a pause.
 */
import type { Step } from '@holdfast/core/lifecycle/step.js';
import type { LayerCommand } from '@holdfast/core/model/agent-protocol.js';
import { isFault, type StorageFault } from '@holdfast/core/model/faults.js';
import { asId } from '@holdfast/core/model/ids.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { volumeEvent } from '@holdfast/core/model/volume-facts.js';
import type { Change, SnapshotPatch, VolumeView } from '../ports/store.js';
import { askEngine, recordLayers } from './layer-steps.js';
import { commitVolume, type ReconcilerPorts, type StepOutcome } from './reconciler-ports.js';
import { snapshotOf } from './step-lookup.js';

type StepOf<Kind extends Step['kind']> = Extract<Step, { kind: Kind }>;

/** What else the plan has changed is stored in the same commit, so that it is asked for once. */
export async function requestSnapshotStep(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshot, changes }: StepOf<'request-snapshot'>,
): Promise<StepOutcome> {
  const id = asId<Snapshot['id']>(ports.random.id());
  await commitVolume(ports, view, [{ kind: 'snapshot.create', snapshot: { ...snapshot, id } }, ...changes]);
  return 'continue';
}

/** The same id twice is one snapshot, so a worker that dies before it has recorded it takes no second one. */
export async function takeSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId }: StepOf<'take-snapshot'>,
): Promise<StepOutcome> {
  const { id, name, origin, createdAt } = snapshotOf(view, snapshotId);
  const refusal = await ask(ports, view, {
    kind: 'take',
    epoch: view.volume.epoch,
    snapshot: { id, name, origin, createdAt: createdAt.toISOString() },
  });
  if (refusal === undefined) return recordLayers(ports, view, undefined);
  const isFinal = refusal.code === 'replica.too_many_layers' || refusal.code === 'request.invalid';
  await commitVolume(
    ports,
    view,
    isFinal ? failed(ports, view, snapshotId, refusal) : noted(ports, snapshotId, refusal),
  );
  return 'continue';
}

export async function removeSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId }: StepOf<'remove-snapshot'>,
): Promise<StepOutcome> {
  const refusal = await ask(ports, view, { kind: 'remove', epoch: view.volume.epoch, snapshotId });
  // One that is not there any more is what was wanted: reading the layers finds that out.
  if (refusal === undefined || refusal.code === 'snapshot.not_found')
    return recordLayers(ports, view, undefined);
  await commitVolume(ports, view, noted(ports, snapshotId, refusal));
  return 'continue';
}

export async function hashSnapshot(
  ports: ReconcilerPorts,
  view: VolumeView,
  { snapshotId, force }: StepOf<'hash-snapshot'>,
): Promise<StepOutcome> {
  const { epoch } = view.volume;
  const refusal = await ask(ports, view, { kind: 'hash', epoch, snapshotId, force });
  const { hashRequest } = snapshotOf(view, snapshotId);
  const changes =
    refusal === undefined && hashRequest !== undefined
      ? patched(snapshotId, { hashRequest: { ...hashRequest, startedEpoch: epoch }, trouble: undefined })
      : noted(ports, snapshotId, refusal);
  await commitVolume(ports, view, changes);
  return 'continue';
}

/** What the engine's agent answered, when it was no. */
async function ask(
  ports: ReconcilerPorts,
  view: VolumeView,
  command: LayerCommand,
): Promise<StorageFault | undefined> {
  try {
    await askEngine(ports, view, command);
    return undefined;
  } catch (error) {
    if (!isFault(error) || error.code.startsWith('store.')) throw error;
    return error;
  }
}

function failed(
  ports: ReconcilerPorts,
  view: VolumeView,
  snapshotId: Snapshot['id'],
  { message: why }: StorageFault,
): Change[] {
  const now = ports.clock.now();
  const { name } = snapshotOf(view, snapshotId);
  const message = `snapshot ${name} of volume ${view.volume.name} can not be taken: ${why}`;
  const subject = { kind: 'snapshot' as const, id: snapshotId };
  const event = volumeEvent(view, now, { type: 'SnapshotFailed', severity: 'warning', message, subject });
  return [
    ...patched(snapshotId, { state: 'failed', trouble: { message: why, at: now } }),
    { kind: 'event', event },
  ];
}

function noted(
  ports: ReconcilerPorts,
  snapshotId: Snapshot['id'],
  refusal: StorageFault | undefined,
): Change[] {
  const message = refusal?.message ?? 'it is not wanted any more';
  return patched(snapshotId, { trouble: { message, at: ports.clock.now() } });
}

function patched(snapshotId: Snapshot['id'], patch: SnapshotPatch): Change[] {
  return [{ kind: 'snapshot.patch', snapshotId, patch }];
}
