import type { Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { isOnReadyNode } from '../model/volume-facts.js';
import { holderOf, requestOf } from '../model/volume-lifecycle.js';
import type { Step } from './step.js';

/** Compares all copies by checksum while the volume is detached. An attach that comes in between wins, and ends it. */
export function planVerification(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (volume.verification?.state !== 'running') return undefined;
  const isIdle = requestOf(volume) === undefined && holderOf(volume) === undefined;
  // Also when it is detached again: copies read before and after that attachment are not alike.
  if (isIdle && (volume.verification.epoch ?? volume.epoch) === volume.epoch) {
    const replicaIds = comparableReplicas(view).map(({ id }) => id);
    return { kind: 'verify', replicaIds };
  }
  const message = 'the volume was attached before its copies had been compared';
  const verification = { ...volume.verification, state: 'failed' as const, finishedAt: now, message };
  const changes = [{ kind: 'volume.patch' as const, volumeId: volume.id, patch: { verification } }];
  return { kind: 'commit', why: message, changes };
}

/** Copies that count as full and can be read now. Failed ones are known to differ. */
export function comparableReplicas({ replicas, fleet }: VolumeView): Replica[] {
  return replicas.filter(
    (replica) => replica.provisioned && replica.failedAt === undefined && isOnReadyNode(replica, fleet),
  );
}
