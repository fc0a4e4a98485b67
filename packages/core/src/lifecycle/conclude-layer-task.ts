/** Conclusions from an engine's answers to a layer task (purge, revert, expansion) and to commands about single snapshots. */

import type { Change, SnapshotPatch } from '../model/changes.js';
import type { FaultCode } from '../model/faults.js';
import type { LayerTask } from '../model/layer-task.js';
import type { Replica } from '../model/replica.js';
import { type Snapshot, snapshotsOfSchedule } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import { volumeEvent } from '../model/volume-facts.js';
import { withoutAdmission } from '../model/volume-task.js';

/** Refusals after which a task is given up: with pauses of five seconds, half a minute. It holds rebuilds back. */
const TRIES_MAX = 6;
/** Refusals that no later try would change. */
const FINAL: ReadonlySet<FaultCode> = new Set([
  'volume.in_use',
  'snapshot.not_found',
  'replica.too_many_layers',
  'request.invalid',
  'disk.file_too_large',
]);

type Refusal = { readonly code: FaultCode; readonly message: string };

/** A purge has begun: it continues after the engine's answer, in the requested attachment. */
export function purgeBegun({ volume }: VolumeView, task: LayerTask): Change[] {
  const begun: LayerTask = { ...task, startedEpoch: volume.epoch, trouble: undefined };
  return [{ kind: 'volume.patch', volumeId: volume.id, patch: { task: begun } }];
}

/**
 * Changes of a task that the engine did not accept: it is tried again, or given up.
 *
 * An engine that does not answer may have done it, and a busy one will be free: neither is a refusal, and the request is repeated for
 * as long as it takes.
 */
export function layerTaskRefused(view: VolumeView, task: LayerTask, error: Refusal, now: Date): Change[] {
  const isAnswer = error.code !== 'agent.unreachable' && !error.code.startsWith('engine.');
  const tries = task.tries + (isAnswer ? 1 : 0);
  const { id: volumeId, name } = view.volume;
  if (!FINAL.has(error.code) && tries < TRIES_MAX) {
    const noted: LayerTask = { ...task, tries, trouble: { message: error.message, at: now } };
    // The next try of a refused task is behind all volumes that wait now. One without an answer may be under way.
    const next = isAnswer ? withoutAdmission(noted) : noted;
    return [{ kind: 'volume.patch', volumeId, patch: { task: next } }];
  }
  const message = `the ${task.kind} of volume ${name} was given up: ${error.message}`;
  return [
    { kind: 'volume.patch', volumeId, patch: { task: undefined } },
    ...(task.kind === 'expand'
      ? view.replicas.map((replica) => givenBack(view, replica, task.fromBytes))
      : []),
    {
      kind: 'event',
      event: volumeEvent(view, now, { type: 'VolumeTaskFailed', message }),
    },
  ];
}

/**
 * Changes of an expansion that a user cancels. If the engine has grown the copies in the meantime, the volume has the larger size all the
 * same: copies only grow (`size-of-copies.ts`).
 */
export function expansionCancelled(
  view: VolumeView,
  task: LayerTask & { kind: 'expand' },
  now: Date,
): Change[] {
  const { id: volumeId, name } = view.volume;
  const message = `the expansion of volume ${name} was cancelled`;
  return [
    { kind: 'volume.patch', volumeId, patch: { task: undefined } },
    ...view.replicas.map((replica) => givenBack(view, replica, task.fromBytes)),
    { kind: 'event', event: volumeEvent(view, now, { type: 'VolumeTaskCancelled', message }) },
  ];
}

/** Returns the space that was booked for an expansion that does not happen. */
function givenBack({ fleet }: VolumeView, { id, diskId, sizeBytes }: Replica, fromBytes: number): Change {
  const booking =
    diskId === undefined
      ? undefined
      : {
          diskId,
          sizeBytes: fromBytes - sizeBytes,
          limitBytes: Number.MAX_SAFE_INTEGER,
          ifSettingsVersion: fleet.settingsVersion,
        };
  return { kind: 'replica.resize', replicaId: id, sizeBytes: fromBytes, booking };
}

/** Refusals after which a snapshot has failed: it was requested for that moment, and each try stalls all writes. */
const FINAL_FOR_SNAPSHOTS: ReadonlySet<FaultCode> = new Set([
  'replica.too_many_layers',
  'request.invalid',
  'disk.no_space',
  'disk.file_too_large',
  'disk.failed',
]);

/**
 * Changes of a snapshot that the engine did not accept: recorded and tried again, or failed for good. A schedule whose previous
 * snapshot failed for the same reason emits no second event.
 */
export function snapshotRefused(view: VolumeView, snapshot: Snapshot, refusal: Refusal, now: Date): Change[] {
  if (!FINAL_FOR_SNAPSHOTS.has(refusal.code)) return withError(snapshot, refusal, now);
  const failed = patched(snapshot, { state: 'failed', trouble: { message: refusal.message, at: now } });
  const [, before] = snapshotsOfSchedule(view.snapshots, snapshot.recurringName);
  if (before?.state === 'failed' && before.trouble?.message === refusal.message) return [failed];
  const message = `snapshot ${snapshot.name} of volume ${view.volume.name} can not be taken: ${refusal.message}`;
  const subject = { kind: 'snapshot' as const, id: snapshot.id };
  const event = volumeEvent(view, now, { type: 'SnapshotFailed', message, subject });
  return [failed, { kind: 'event', event }];
}

/** Changes of a requested hash. @param refusal `undefined` when the engine has begun it */
export function hashAnswered(
  { volume }: VolumeView,
  snapshot: Snapshot,
  refusal: Refusal | undefined,
  now: Date,
): Change[] {
  const { hashRequest } = snapshot;
  if (refusal !== undefined || hashRequest === undefined) return withError(snapshot, refusal, now);
  const patch = { hashRequest: { ...hashRequest, startedEpoch: volume.epoch }, trouble: undefined };
  return [patched(snapshot, patch)];
}

/** Records on the snapshot why it waits, so that the volume continues with its other work. */
export function withError(snapshot: Snapshot, refusal: Refusal | undefined, now: Date): Change[] {
  const message = refusal?.message ?? 'it is not wanted any more';
  return [patched(snapshot, { trouble: { message, at: now } })];
}

function patched({ id: snapshotId }: Snapshot, patch: SnapshotPatch): Change {
  return { kind: 'snapshot.patch', snapshotId, patch };
}
