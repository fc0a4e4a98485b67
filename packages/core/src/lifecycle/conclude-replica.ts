/** Changes of a single replica: it is added, its directory was made or not, its copy was dropped. */
import { placeText } from '../balance/planned-move.js';
import type { Change, ReplicaPatch, SpaceBooking } from '../model/changes.js';
import { copyRecord } from '../model/copy-record.js';
import type { NodeId, ReplicaId } from '../model/ids.js';
import type { Relocation } from '../model/relocation.js';
import { newReplica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { nodeName, volumeEvent } from '../model/volume-facts.js';

/** A further replica: its place, and the one that it replaces. */
export type AddedReplica = {
  readonly nodeId: NodeId;
  readonly booking: SpaceBooking;
  readonly relocation?: Relocation | undefined;
};

/** A further replica with its booking, which a rebuild will fill. */
export function replicaAdded(
  view: VolumeView,
  { nodeId, booking, relocation }: AddedReplica,
  made: { id: ReplicaId; secret: string },
  now: Date,
): Change[] {
  const { fleet, volume } = view;
  const facts = { ...made, volumeId: volume.id, sizeBytes: booking.sizeBytes, relocation, createdAt: now };
  const replica = newReplica(facts, { nodeId, diskId: booking.diskId });
  const reason =
    relocation === undefined
      ? ''
      : `, to replace the one on ${placeText(relocation.from, view)}: ${relocation.gain}`;
  const message = `a new replica is built on ${nodeName(fleet, nodeId)}${reason}`;
  const subject = { kind: 'replica' as const, id: replica.id };
  const event = volumeEvent(view, now, { type: 'ReplicaAdded', message, subject });
  return [
    { kind: 'replica.create', replica, booking },
    { kind: 'event', event },
  ];
}

/**
 * Changes of a replica whose directory was made.
 *
 * @param isFirstCopy the volume was never written: the copy is current, and the record of the volume names it too
 */
export function replicaProvisioned(
  { volume }: VolumeView,
  replicaId: ReplicaId,
  isFirstCopy: boolean,
  now: Date,
): Change[] {
  const made: ReplicaPatch = { provisioned: true, failure: undefined };
  if (!isFirstCopy) return [patchOf(replicaId, made)];
  const members = [...(volume.record?.members ?? []), replicaId];
  const record = copyRecord(0, (volume.record?.dataGeneration ?? 0) + 1, members);
  return [
    patchOf(replicaId, { ...made, healthyAt: now, lastHealthyAt: now }),
    { kind: 'volume.patch', volumeId: volume.id, patch: { record } },
  ];
}

/** The failure is recorded on the replica, so that the volume continues with its other copies meanwhile. */
export function provisioningFailed(replicaId: ReplicaId, message: string, now: Date): Change[] {
  return [patchOf(replicaId, { failure: { reason: 'ProvisioningFailed', message }, lastFailedAt: now })];
}

/** After the engine's answer the replica gets no more writes: it counts as failed. */
export function replicaDropped(replicaId: ReplicaId, message: string, now: Date): Change[] {
  const failure = { reason: 'Dropped', message };
  return [patchOf(replicaId, { mode: 'ERR', failedAt: now, lastFailedAt: now, failure })];
}

function patchOf(replicaId: ReplicaId, patch: ReplicaPatch): Change {
  return { kind: 'replica.patch', replicaId, patch };
}
