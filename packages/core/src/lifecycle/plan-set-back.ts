/**
 * Planner of copies on disks that were set back: a restored snapshot of a machine, a rolled-back array, or a copied disk that a user
 * accepted. Such a copy may look exactly like a current one, because the writes that it lacks did not change its record. It is given
 * up if the volume has another full copy, so that a whole new one is built: a rebuild with only the writes after the copy's failure
 * would miss the earlier ones.
 *
 * The only full copy stays, and so do those that an engine uses, which has reached the true disk since.
 */
import { conditionOf } from '../model/condition.js';
import { DISK_SET_BACK } from '../model/disk-stamp.js';
import type { StorageDisk } from '../model/node.js';
import { isFailed, isHealthy, REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { diskById, nodeName, volumeEvent } from '../model/volume-facts.js';
import { isDeleting } from '../model/volume-lifecycle.js';
import type { Step } from './step.js';

export function planSetBack(view: VolumeView, now: Date): Step | undefined {
  if (isDeleting(view.volume)) return undefined;
  const replica = view.replicas.find((one) => isToBeGivenUp(one, view));
  if (replica === undefined) return undefined;
  const disk = diskById(view.fleet, replica.diskId)?.name ?? 'its disk';
  const message = `${disk} holds an earlier state of itself`;
  const patch = {
    failure: { reason: DISK_SET_BACK, message },
    rebuildRetryCount: REBUILD_RETRIES_MAX,
    ...(isFailed(replica) ? {} : { failedAt: now, lastFailedAt: now }),
  };
  const told = `the replica on ${nodeName(view.fleet, replica.nodeId)} failed: ${message}`;
  const event = volumeEvent(view, now, {
    type: 'ReplicaFailed',
    message: told,
    subject: { kind: 'replica', id: replica.id },
  });
  return {
    kind: 'commit',
    why: told,
    changes: [
      { kind: 'replica.patch', replicaId: replica.id, patch },
      { kind: 'event', event },
    ],
  };
}

function isToBeGivenUp(replica: Replica, { replicas, fleet }: VolumeView): boolean {
  const others = replicas.filter(({ id }) => id !== replica.id);
  return awaitsGivingUp(replica, others, (one) => isSetBack(diskById(fleet, one.diskId)));
}

/**
 * True if a disk that a user has accepted waits for a copy on it. Nothing on the disk may be read until an engine has released the
 * copy and, if that is due, it was given up.
 *
 * @param others of the same volume
 */
export function holdsAcceptance<Copy extends JudgedCopy>(
  replica: Copy,
  others: readonly Copy[],
  isOnSetBack: (copy: Copy) => boolean,
): boolean {
  return isUsed(replica) || awaitsGivingUp(replica, others, isOnSetBack);
}

type JudgedCopy = Pick<Replica, 'mode' | 'healthyAt' | 'failedAt' | 'rebuildRetryCount' | 'intent'>;

function awaitsGivingUp<Copy extends JudgedCopy>(
  replica: Copy,
  others: readonly Copy[],
  isOnSetBack: (copy: Copy) => boolean,
): boolean {
  const isGivenUp = replica.failedAt !== undefined && replica.rebuildRetryCount >= REBUILD_RETRIES_MAX;
  if (isUsed(replica) || isGivenUp || replica.intent === 'remove' || !isOnSetBack(replica)) return false;
  return others.some((other) => isHealthy(other) && other.intent !== 'remove' && !isOnSetBack(other));
}

function isUsed({ mode }: JudgedCopy): boolean {
  return mode === 'RW' || mode === 'WO';
}

export function isSetBack(disk: Pick<StorageDisk, 'acceptedNodeId' | 'conditions'> | undefined): boolean {
  if (disk === undefined) return false;
  return disk.acceptedNodeId !== undefined || conditionOf(disk.conditions, 'Ready')?.reason === DISK_SET_BACK;
}
