/**
 * Planner of removals: deletes copies that are no longer wanted, because a user or the surplus rule dropped them, or
 * because they failed and were given up or not used for too long.
 *
 * Runs last, so that a copy goes only when nothing is left to repair.
 */
import type { RemovalReason } from '../model/copy-removal.js';
import { isFailed, isHealthy, REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import {
  activeRebuild,
  isAwaitingRebuild,
  isEvicting,
  isReachable,
  lastingCopies,
} from '../model/volume-facts.js';
import { isDeleting } from '../model/volume-lifecycle.js';
import { decideRemoval } from '../policy/decide-removal.js';
import { decideSurplus } from '../policy/decide-surplus.js';
import type { Step } from './step.js';

export function planRemoval(view: VolumeView, now: Date): Step | undefined {
  const leaving = view.replicas.find((replica) => replica.intent === 'remove' && mayGoNow(view, replica));
  if (leaving !== undefined) return planLeaving(view, leaving);
  return planSurplus(view) ?? planMisplaced(view) ?? planGivenUp(view, now);
}

/**
 * A full copy of a detached volume stays until the next attach: only an engine can write the record without it to the
 * others, and without that record the others might be too few to go on. A volume that was never attached has no such
 * record on its copies, but its first attach has to find what Postgres says was made.
 */
function mayGoNow(view: VolumeView, replica: Replica): boolean {
  if (!isHealthy(replica)) return true;
  return (
    view.volume.lifecycle.state === 'attached' && decideRemoval(view.replicas, replica.id).kind === 'allow'
  );
}

function planLeaving(view: VolumeView, replica: Replica): Step {
  if (isInUse(view, replica)) {
    return { kind: 'drop-replica', replicaId: replica.id, reason: 'it is to be removed' };
  }
  const nodeId = isReachable(replica, view.fleet) ? replica.nodeId : undefined;
  return { kind: 'remove-replica', replicaId: replica.id, nodeId };
}

/**
 * True if the engine uses the copy, by conclusion or by its last report. The engine was informed that a failed copy is out of use; a
 * report that says otherwise is older.
 */
function isInUse({ engine }: VolumeView, { id, mode, failedAt }: Replica): boolean {
  if (isUsed(mode) || failedAt !== undefined) return isUsed(mode);
  return isUsed(engine?.report.replicas.find(({ replicaId }) => replicaId === id)?.mode);
}

function isUsed(mode: Replica['mode']): boolean {
  return mode === 'RW' || mode === 'WO';
}

/**
 * One at a time: each removal changes which one is the next. A full copy stays while a rebuild reads from it or may fail; an
 * unfinished one is removed in the midst of its own.
 */
function planSurplus(view: VolumeView): Step | undefined {
  const isLeaving = view.replicas.some(({ intent }) => intent === 'remove');
  if (view.volume.lifecycle.state !== 'attached' || isLeaving) return undefined;
  const victim = decideSurplus(view);
  if (victim === undefined) return undefined;
  if (isHealthy(victim.replica) && activeRebuild(view) !== undefined) return undefined;
  const change = {
    kind: 'replica.patch' as const,
    replicaId: victim.replica.id,
    patch: { intent: 'remove' as const },
  };
  return { kind: 'commit', why: victim.why, changes: [change] };
}

/** A copy that was yet to be built on a place that is being emptied by now. A volume's first copies need no rebuild. */
function planMisplaced(view: VolumeView): Step | undefined {
  const { volume, replicas, fleet } = view;
  if (volume.epoch === 0) return undefined;
  const targetId = activeRebuild(view)?.targetReplicaId;
  const misplaced = replicas.find(
    (replica) =>
      replica.id !== targetId && isAwaitingRebuild(replica) && isEvicting(replica, fleet, replicas),
  );
  return misplaced === undefined ? undefined : planLeaving(view, misplaced);
}

function planGivenUp(view: VolumeView, now: Date): Step | undefined {
  const copies = lastingCopies(view).length;
  // While no copy is full, a failed one may be all that is left of the data.
  if (copies === 0) return undefined;
  const isComplete = copies >= view.volume.spec.numberOfReplicas;
  const staleMinutes = view.fleet.settings['stale-replica-timeout'];
  const given = view.replicas.find((replica) => {
    const isMisplaced = isFailed(replica) && isEvicting(replica, view.fleet, view.replicas);
    const isUseless = wasNeverFull(replica) || isMisplaced || isStale(replica, staleMinutes, now);
    return isOutOfTries(replica) || (isMisplaced && wasNeverFull(replica)) || (isComplete && isUseless);
  });
  if (given === undefined) return undefined;
  const nodeId = isReachable(given, view.fleet) ? given.nodeId : undefined;
  return { kind: 'remove-replica', replicaId: given.id, nodeId };
}

/**
 * Reason for the agent that deletes a copy: a copy that calls itself the only current one accepts no less. A volume without a record
 * was never attached, and its copies hold nothing.
 */
export function removalReason(volume: Volume): RemovalReason | undefined {
  if (isDeleting(volume)) return { kind: 'given-up' };
  return volume.record === undefined ? undefined : { kind: 'superseded', record: volume.record };
}

function isOutOfTries({ failedAt, rebuildRetryCount }: Replica): boolean {
  return failedAt !== undefined && rebuildRetryCount >= REBUILD_RETRIES_MAX;
}

/** It holds nothing that a later rebuild could save. */
function wasNeverFull({ failedAt, lastHealthyAt }: Replica): boolean {
  return failedAt !== undefined && lastHealthyAt === undefined;
}

/** When each failed replica is old enough to be removed from a volume that has all its copies. */
export function removalTimes({ replicas, fleet }: VolumeView): Date[] {
  const staleMinutes = fleet.settings['stale-replica-timeout'];
  if (staleMinutes === 0) return [];
  return replicas.flatMap(({ failedAt }) =>
    failedAt === undefined ? [] : [new Date(failedAt.getTime() + staleMinutes * 60_000)],
  );
}

/** `stale-replica-timeout` 0 keeps failed replicas for ever. */
function isStale({ failedAt }: Replica, staleMinutes: number, now: Date): boolean {
  if (failedAt === undefined || staleMinutes === 0) return false;
  return now.getTime() - failedAt.getTime() >= staleMinutes * 60_000;
}
