/**
 * Planner of offline rebuilds: brings a detached volume back to its wanted number of full copies, its copies off places that are
 * being evicted, or the volume to a larger size that a user requested. It attaches the volume without an address, lets the rebuild of
 * any attached volume do the rest, and detaches it.
 *
 * The attachment has a `purpose`, so a user's attach takes it over and a delete ends it, and a worker that dies leaves nothing that
 * the next one could mistake for a user's attachment. A volume that can't be rebuilt now is detached after a minute and left alone
 * for a while.
 */

import { blockText } from '../admission/waiting.js';
import type { Change, VolumePatch } from '../model/changes.js';
import { conditionOf, withCondition } from '../model/condition.js';
import type { ClusterEvent } from '../model/event.js';
import { isNodeReady } from '../model/node.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isHealthy } from '../model/replica.js';
import type { RepairView, VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { activeRebuild, isReachable, misplacedCopies, nodeById, volumeEvent } from '../model/volume-facts.js';
import {
  afterRelease,
  afterRequest,
  holderOf,
  isDeleting,
  isRepairing,
  requestOf,
} from '../model/volume-lifecycle.js';
import { fillOf } from '../model/volume-task.js';
import { decideSurplus } from '../policy/decide-surplus.js';
import { awaitedTimes, awayUntil, withLostCopies } from './lost-places.js';
import { attachObstacle } from './plan-attachment.js';
import { canReplenish, isRebuiltOffline } from './plan-replenishment.js';
import { robustnessOf } from './plan-status.js';
import { isPausingRebuilds } from './rebuild-pause.js';
import type { Step } from './step.js';

/**
 * Detached volumes of one node that are attached for a move at once: more than the rebuilds that a node's limits usually let
 * run, so that none of these waits for an attach, and few enough that the engines of a full node don't start together.
 */
export const DETACHED_MOVES_MAX = 10;
/** Long enough for an attach, an admission and a first report; a rebuild that runs or waits in the queue is no idleness. */
export const IDLE_MS_MAX = 60_000;
/** After a fruitless attempt: the volume would only be attached and detached all the time. */
export const REST_MS = 10 * 60_000;
const TYPE = 'OfflineRebuilding';
const STALLED = 'Stalled';
/** It ended since there was nothing to do: no place, or a copy that is waited for. The next attempt begins when there is, without a rest. */
const NOT_POSSIBLE = 'NotPossibleYet';

export function planOfflineRebuild(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (isDeleting(volume)) return undefined;
  if (isRepairing(volume)) return planEnd(view, now);
  if (conditionOf(volume.conditions, TYPE)?.status === 'True') return planTakenOver(view, now);
  return planBeginning(view, now);
}

/**
 * Attaches a detached volume to move its copies off places that are being evicted. Not part of the volume's own plan: the cluster's
 * reconciler requests it, a few volumes at a time, so that a node with many of them does not start all engines at once.
 */
export function planEvictionAttachment(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (!mayBeMoved(view, now)) return undefined;
  if (!canReplenish(withLostCopies(view, now), now) && decideSurplus(view) === undefined) return undefined;
  return begin(view, `copies of volume ${volume.name} are moved while it is detached`, now);
}

/** True if a copy of it is to move and only the lack of a place could prevent that. Cheaper than a search for one. */
export function mayBeMoved(view: RepairView, now: Date): boolean {
  if (misplacedCopies(view).length === 0 || !mayBegin(view, now)) return false;
  // An attach without a copy whose node is down for a moment gives that copy up.
  return !view.replicas.some((replica) => awayUntil(replica, view) > now);
}

function planBeginning(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  if (isToGrow(view) && mayBegin(view, now))
    return begin(view, `volume ${volume.name} grows while it is detached`, now);
  if (!isRebuiltOffline(view) || robustnessOf(view) !== 'degraded' || !mayBegin(view, now)) return undefined;
  // A copy whose node is down for a moment is not lost: an attach that no user needs would give it up.
  const judged = withLostCopies(view, now);
  const hopeful = judged.replicas.filter((replica) => isHealthy(replica) && replica.intent === 'keep').length;
  if (hopeful >= volume.spec.numberOfReplicas || !canReplenish(judged, now)) return undefined;
  return begin(view, `missing copies of volume ${volume.name} are rebuilt while it is detached`, now);
}

/** A user has requested a larger size, and only an engine can change the layers. */
function isToGrow({ volume }: Pick<VolumeView, 'volume'>): boolean {
  return volume.task?.kind === 'expand';
}

function mayBegin(view: RepairView, now: Date): boolean {
  const { volume, rebuilds } = view;
  const isIdle = volume.lifecycle.state === 'detached' && fillOf(volume) === undefined;
  const { verification } = volume;
  const isCompared = verification?.state === 'running' && verification.scheduled !== true;
  if (!isIdle || isCompared || isResting(volume, now)) return false;
  if (volume.rebuildHold !== undefined || isPausingRebuilds(rebuilds, now)) return false;
  return isAnyFullCopyReachable(view) && attachObstacle(view) === undefined;
}

/** A volume that would only wait for its nodes is not attached: that changes nothing, and each try would leave two events. */
function isAnyFullCopyReachable({ replicas, fleet }: RepairView): boolean {
  return replicas.some((replica) => isHealthy(replica) && isReachable(replica, fleet));
}

function begin(view: VolumeView, message: string, now: Date): Step {
  return { kind: 'commit', why: message, changes: attachedForRebuild(view, message, now) };
}

/** Changes that attach a detached volume for the rebuild of a copy, requested by a user or a rule. */
export function attachedForRebuild(view: VolumeView, message: string, now: Date): Change[] {
  const { volume } = view;
  const patch: VolumePatch = {
    lifecycle: afterRequest(volume.lifecycle, { nodeId: undefined, requestedAt: now, purpose: 'rebuild' }),
    conditions: shown(volume, { status: 'True', reason: 'OfflineRebuildingInProgress', message }, now),
  };
  return changesOf(view, patch, { type: 'OfflineRebuildStarted', message }, now);
}

function planEnd(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  const why = endReason(view, now);
  if (why === undefined) return undefined;
  const patch: VolumePatch = {
    // No client has written through it, so a holder that does not answer is not waited for.
    lifecycle: afterRelease(volume.lifecycle, isHolderLost(view)),
    attention: undefined,
    conditions: shown(volume, { status: 'False', ...why }, now),
  };
  const message = `the rebuild of volume ${volume.name} while it was detached has ended: ${why.message}`;
  return {
    kind: 'commit',
    why: message,
    changes: changesOf(view, patch, { type: 'OfflineRebuildEnded', message }, now),
  };
}

function endReason(view: VolumeView, now: Date): { reason: string; message: string } | undefined {
  const { volume } = view;
  // One copy too many goes while there is an engine that can write the record without it.
  const isMoving =
    misplacedCopies(view).length > 0 ||
    decideSurplus(view) !== undefined ||
    view.replicas.some(({ relocation, intent }) => relocation !== undefined || intent === 'remove');
  const isFull = volume.lifecycle.state === 'attached' && robustnessOf(view) === 'healthy';
  const isBusy = isMoving || isToGrow(view);
  if (isFull && !isBusy && activeRebuild(view) === undefined)
    return { reason: 'Healthy', message: 'all copies are full' };
  if (!isRebuiltOffline(view) && !isBusy)
    return { reason: 'NotWanted', message: 'nothing more is to be done while it is detached' };
  if (isHolderLost(view)) return { reason: STALLED, message: 'the node that it ran on does not answer' };
  if (volume.rebuildHold !== undefined)
    return { reason: 'Held', message: blockText(volume.rebuildHold).waitingFor };
  if (mayComeToRun(view)) return undefined;
  if (now.getTime() - lastActiveMs(view) < IDLE_MS_MAX) return undefined;
  return canReplenish(view, now) || decideSurplus(view) !== undefined || isToGrow(view)
    ? { reason: STALLED, message: 'nothing came of it for a while; it is tried again later' }
    : {
        reason: NOT_POSSIBLE,
        message: 'no copy could be built for a while; it goes on as soon as one can be',
      };
}

/** Does a rebuild run, or wait in the queue while rebuilds may start? */
function mayComeToRun(view: VolumeView): boolean {
  const active = activeRebuild(view);
  if (active === undefined) return false;
  return active.state === 'running' || rebuildsStoppedBy(view.fleet.settings) === undefined;
}

/** When it was attached for its rebuild, or the last rebuild ended. */
function lastActiveMs({ volume, rebuilds }: VolumeView): number {
  return Math.max(
    requestOf(volume)?.requestedAt.getTime() ?? 0,
    ...rebuilds.map(({ finishedAt }) => finishedAt?.getTime() ?? 0),
  );
}

/** When an attachment without a rebuild has lasted long enough, and when a fruitless one may be tried again. */
export function offlineRebuildTimes(view: VolumeView): Date[] {
  const { volume } = view;
  if (isRepairing(volume)) return [new Date(lastActiveMs(view) + IDLE_MS_MAX)];
  const rested = restsUntil(volume);
  return [...awaitedTimes(view), ...(rested === undefined ? [] : [rested])];
}

/** A user attached or deletes it: it is an ordinary volume afterwards. */
function planTakenOver(view: VolumeView, now: Date): Step {
  const { volume } = view;
  const message = 'another attachment has taken the volume over';
  const conditions = shown(volume, { status: 'False', reason: 'Preempted', message }, now);
  const change: Change = { kind: 'volume.patch', volumeId: volume.id, patch: { conditions } };
  return { kind: 'commit', why: message, changes: [change] };
}

function isHolderLost({ volume, fleet }: VolumeView): boolean {
  const holderId = holderOf(volume);
  const holder = nodeById(fleet, holderId);
  return holderId !== undefined && (holder === undefined || !isNodeReady(holder));
}

function isResting(volume: Volume, now: Date): boolean {
  const until = restsUntil(volume);
  return until !== undefined && until > now;
}

/** When a detached volume may be attached for its copies again, after an attempt that came to nothing; may be past. */
export function restsUntil({ conditions }: Volume): Date | undefined {
  const last = conditionOf(conditions, TYPE);
  return last?.reason === STALLED ? new Date(last.lastTransitionAt.getTime() + REST_MS) : undefined;
}

/** True if an attempt since then was fruitless. */
export function isStalledSince({ conditions }: Pick<Volume, 'conditions'>, since: Date): boolean {
  const last = conditionOf(conditions, TYPE);
  if (last === undefined || last.lastTransitionAt <= since) return false;
  return last.reason === STALLED || last.reason === NOT_POSSIBLE;
}

type Shown = { status: 'True' | 'False'; reason: string; message: string };

function shown({ conditions }: Volume, next: Shown, now: Date): Volume['conditions'] {
  return withCondition(conditions, { type: TYPE, ...next }, now);
}

function changesOf(
  view: VolumeView,
  patch: VolumePatch,
  event: Pick<ClusterEvent, 'type' | 'message'>,
  now: Date,
): Change[] {
  return [
    { kind: 'volume.patch', volumeId: view.volume.id, patch },
    { kind: 'event', event: volumeEvent(view, now, event) },
  ];
}
