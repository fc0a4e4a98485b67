/** Conclusions from an agent's answers about a single replica: its directory was made or not, its copy was dropped. */
import type { Change, ReplicaPatch } from '../model/changes.js';
import { copyRecord } from '../model/copy-record.js';
import type { ReplicaId } from '../model/ids.js';
import type { VolumeView } from '../model/views.js';

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

/** The failure stays with the replica, so that the volume goes on with its other copies meanwhile. */
export function provisioningFailed(replicaId: ReplicaId, message: string, now: Date): Change[] {
  return [patchOf(replicaId, { failure: { reason: 'ProvisioningFailed', message }, lastFailedAt: now })];
}

/** From the engine's answer on the replica gets no more writes: it counts as failed. */
export function replicaDropped(replicaId: ReplicaId, message: string, now: Date): Change[] {
  const failure = { reason: 'Dropped', message };
  return [patchOf(replicaId, { mode: 'ERR', failedAt: now, lastFailedAt: now, failure })];
}

function patchOf(replicaId: ReplicaId, patch: ReplicaPatch): Change {
  return { kind: 'replica.patch', replicaId, patch };
}
