/**
 * Planner of replenishment: brings an attached volume back to its wanted number of full copies.
 *
 * At most one rebuild per volume is active. Every missing copy is made by the first of these that applies: finish the
 * rebuild that is active, rebuild a replica that waits for it, take a failed replica back (the one that failed last is
 * the least stale), wait for a failed one that may still return, build a new one elsewhere. A rebuild is only queued
 * here; admission lets it run (`admission/plan-admissions.ts`). An old copy is always rebuilt, never believed.
 */

import { compareIds } from '../model/ids.js';
import { type Rebuild, standsStill } from '../model/rebuild.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isPotentiallyReusable, type Replica } from '../model/replica.js';
import type { FleetView, RepairView, VolumeView } from '../model/views.js';
import {
  activeRebuild,
  comingCopies,
  isEvicting,
  isOnReadyNode,
  lastingCopies,
  misplacedCopies,
  nodeById,
  unneededCopies,
} from '../model/volume-facts.js';
import { effectiveValue } from '../policy/volume-settings.js';
import type { CandidateRefusal, Placement } from '../scheduling/framework/framework.js';
import { placeHeldUntil, returnFacts } from '../scheduling/framework/occupancy.js';
import { placementRequest } from '../scheduling/framework/placement-request.js';
import { assertFleetConsistent } from '../scheduling/placement/fleet-consistency.js';
import { placeReplica } from '../scheduling/placement/place-replica.js';
import { bookingFor } from '../scheduling/placement/plan-placements.js';
import { withLostCopies } from './lost-places.js';
import { rebuildFailed } from './plan-observation.js';
import { isPausingRebuilds, lastPause } from './rebuild-pause.js';
import { chosenSources, planSources, sourcesOf } from './rebuild-sources.js';
import type { Step } from './step.js';

export function planReplenishment(view: VolumeView, now: Date): Step | undefined {
  const { volume, engine } = view;
  if (volume.lifecycle.state !== 'attached' || engine === undefined || engine.report.state !== 'running')
    return undefined;
  if (sourcesOf(view).length === 0) return undefined;

  const stray = planStrayRebuild(view);
  if (stray !== undefined) return stray;
  const active = activeRebuild(view);
  if (active !== undefined) return planActiveRebuild(view, active, now);
  if (isPausingRebuilds(view.rebuilds, now)) return undefined;

  const coming = comingCopies(view);
  const waiting = waitingTarget(view);
  if (waiting !== undefined) return queueRebuild(view, waiting, false);
  if (lastingCopies(view).length + coming.length >= volume.spec.numberOfReplicas) return undefined;
  return planMissingCopy(view, now);
}

/**
 * When the pause after the last rebuild ends, and when a new replica may replace each failed one. Placement, and the conditions about
 * missing copies, depend on the same two.
 */
export function replenishmentTimes({ replicas, rebuilds, fleet }: VolumeView): Date[] {
  const pause = lastPause(rebuilds);
  const facts = returnFacts(replicas, fleet);
  const held = replicas.map((replica) => placeHeldUntil(replica, facts));
  return [...(pause === undefined ? [] : [pause.until]), ...held.filter((until) => until !== undefined)];
}

/** Is there something that an attached engine could rebuild now: a replica that waits, one to take back, a place for a new one? */
export function canReplenish(view: RepairView, now: Date): boolean {
  if (rebuildsStoppedBy(view.fleet.settings) !== undefined) return false;
  if (waitingTarget(view) !== undefined) return true;
  if (reusableReplica(view, now) !== undefined) return true;
  return placementOfMissing(view, now)?.kind === 'placed';
}

function planMissingCopy(view: VolumeView, now: Date): Step | undefined {
  const reused = reusableReplica(view, now);
  if (reused !== undefined) return queueRebuild(view, reused, true);
  // A replica that is added now would be booked with the size that is about to change.
  if (view.volume.task?.kind === 'expand') return undefined;
  // No replica is added that could not be rebuilt.
  if (rebuildsStoppedBy(view.fleet.settings) !== undefined) return undefined;
  const placement = placementOfMissing(view, now);
  if (placement?.kind !== 'placed') return undefined;
  const booking = bookingFor(placement.diskId, view.volume.spec.sizeBytes, view.fleet);
  return { kind: 'add-replica', nodeId: placement.nodeId, booking };
}

function queueRebuild(view: VolumeView, { id: replicaId }: Replica, reuse: boolean): Step {
  const sourceReplicaIds = chosenSources(view).map(({ id }) => id);
  return { kind: 'queue-rebuild', replicaId, sourceReplicaIds, reuse };
}

/** An unfinished copy that can be built now. The surplus rule handles one that is not needed any more. */
function waitingTarget(view: RepairView): Replica | undefined {
  const unneeded = unneededCopies(view);
  return comingCopies(view).find((replica) => canBeTarget(replica, view) && !unneeded.includes(replica));
}

function canBeTarget(replica: Replica, { fleet }: Pick<RepairView, 'fleet'>): boolean {
  return replica.provisioned && isOnReadyNode(replica, fleet);
}

/** A rebuild that was cancelled, or that ended for us in another way, but that the engine still runs. */
function planStrayRebuild({ rebuilds, engine }: VolumeView): Step | undefined {
  const running = engine?.report.rebuilds.filter(({ state }) => state === 'running') ?? [];
  const stray = rebuilds.find(
    (rebuild) =>
      (rebuild.state === 'cancelled' || rebuild.state === 'failed') &&
      running.some(({ rebuildId }) => rebuildId === rebuild.id),
  );
  return stray === undefined ? undefined : { kind: 'cancel-rebuild', rebuildId: stray.id };
}

function planActiveRebuild(view: VolumeView, rebuild: Rebuild, now: Date): Step | undefined {
  const { volume, replicas, engine } = view;
  const target = replicas.find(({ id }) => id === rebuild.targetReplicaId);
  const obstacle = obstacleOf(view, rebuild, target);
  if (obstacle !== undefined) {
    const error = { code: obstacle.code, message: obstacle.message };
    const isCalledOff = obstacle.code === 'rebuild.cancelled';
    const changes = rebuildFailed(view, { rebuild, target, error, triesSpent: 0, isCalledOff }, now);
    return { kind: 'commit', why: obstacle.message, changes };
  }
  const sources = planSources(view, rebuild);
  if (sources !== undefined || rebuild.state !== 'running') return sources;
  if (rebuild.epoch !== volume.epoch) return recordEpoch(rebuild, volume.epoch);
  const isKnown = engine?.report.rebuilds.some(({ rebuildId }) => rebuildId === rebuild.id) === true;
  return isKnown ? planTuning(rebuild) : { kind: 'start-rebuild', rebuildId: rebuild.id };
}

/**
 * The attachment that runs a rebuild is recorded before its engine is asked: if that engine is replaced, the new one, which does not
 * know the rebuild, is asked again.
 */
function recordEpoch({ id: rebuildId }: Rebuild, epoch: number): Step {
  return {
    kind: 'commit',
    why: `the rebuild runs in attachment ${epoch}`,
    changes: [{ kind: 'rebuild.patch', rebuildId, ifState: 'running', patch: { epoch } }],
  };
}

/** A rebuild starts with its grant; later changes are sent to its engine, once. */
function planTuning(rebuild: Rebuild): Step | undefined {
  const { id, grantedBytesPerSecond, tuned } = rebuild;
  const paused = standsStill(rebuild);
  const isTold =
    tuned === undefined
      ? !paused && grantedBytesPerSecond === undefined
      : tuned.paused === paused && tuned.bandwidthBytesPerSecond === grantedBytesPerSecond;
  if (isTold) return undefined;
  const tuning = { paused, bandwidthBytesPerSecond: grantedBytesPerSecond };
  return { kind: 'tune-rebuild', rebuildId: id, tuning };
}

/** Why an active rebuild can't go on through no fault of its target. */
function obstacleOf(
  view: VolumeView,
  rebuild: Rebuild,
  target: Replica | undefined,
): { code: string; message: string } | undefined {
  if (target === undefined || target.intent === 'remove') {
    return { code: 'replica.not_found', message: 'its target is to be removed' };
  }
  if (rebuild.epoch !== undefined && rebuild.epoch !== view.volume.epoch) {
    return { code: 'engine.not_found', message: 'the engine that ran it is gone' };
  }
  if (rebuild.state === 'queued' && isEvicting(target, view.fleet, view.replicas)) {
    return { code: 'rebuild.cancelled', message: 'the place of its target is being emptied' };
  }
  const isLeft = rebuild.epoch === undefined && !isOnReadyNode(target, view.fleet);
  return isLeft ? { code: 'node.not_ready', message: 'the node of its target does not answer' } : undefined;
}

/** The failed replica that may be taken back: latest failure first, its node and disk fit, its place not taken. */
export function reusableReplica(view: RepairView, now: Date): Replica | undefined {
  return view.replicas
    .filter((replica) => isPotentiallyReusable(replica) && hasReturned(replica, view))
    .sort((a, b) => failedAtMs(b) - failedAtMs(a) || compareIds(a.id, b.id))
    .find((replica) => fitsWhereItIs(replica, view, now));
}

/**
 * A node that died a moment ago still counts as ready until its silence is noticed; only a sign of life since the
 * failure says that a rebuild there has a chance.
 */
function hasReturned(replica: Replica, view: RepairView): boolean {
  const heardAt = nodeById(view.fleet, replica.nodeId)?.lastHeartbeatAt;
  return canBeTarget(replica, view) && heardAt !== undefined && heardAt.getTime() > failedAtMs(replica);
}

function failedAtMs({ failedAt }: Replica): number {
  return failedAt?.getTime() ?? 0;
}

/** Only live copies can have taken its place: other failed ones do not count, else two could block each other. */
function fitsWhereItIs(replica: Replica, view: RepairView, now: Date): boolean {
  const others = view.replicas.filter(({ id, failedAt }) => id !== replica.id && failedAt === undefined);
  const request = { ...placementRequest(view.volume, others, view.fleet), reuseDiskId: replica.diskId };
  return placeReplica(request, view.fleet, now).kind === 'placed';
}

/**
 * A place for one more replica, when it is time for one. `undefined` while failed replicas may still return for all
 * that is missing: each is waited for from its own failure.
 */
export function placementOfMissing(view: RepairView, now: Date): Placement | undefined {
  const known = placements.get(view);
  if (known?.nowMs === now.getTime()) return known.placement;
  const placement = isTimeForCopy(view, now) ? placementOfNext(view, now) : undefined;
  placements.set(view, { nowMs: now.getTime(), placement });
  return placement;
}

/** Several planners need it for one view: the condition about a missing copy, and the action on it. */
const placements = new WeakMap<RepairView, { nowMs: number; placement: Placement | undefined }>();

function placementOfNext(view: RepairView, now: Date): Placement {
  assertFleetConsistent(view.fleet, view.replicas);
  const trusted = withoutSilentNodes(view);
  return placeReplica(placementRequest(view.volume, view.replicas, trusted), trusted, now);
}

/** Are missing copies of the volume also built while it is detached? */
export function isRebuiltOffline({ volume, fleet }: Pick<VolumeView, 'volume' | 'fleet'>): boolean {
  return effectiveValue(volume.spec, fleet.settings, 'offlineRebuilding') === 'enabled';
}

/** Is a copy missing for which no failed replica is waited for any more? */
export function isTimeForCopy(view: RepairView, now: Date): boolean {
  const { volume, replicas, fleet } = view;
  const coming = comingCopies(view).length;
  const missing = volume.spec.numberOfReplicas - lastingCopies(view).length - coming;
  const facts = returnFacts(replicas, fleet);
  const awaited = replicas.filter((replica) => {
    if (!isPotentiallyReusable(replica)) return false;
    // One that is back on a place that is being emptied is not taken back there.
    if (isOnReadyNode(replica, fleet) && isEvicting(replica, fleet, replicas)) return false;
    const until = placeHeldUntil(replica, facts);
    return until !== undefined && until.getTime() > now.getTime();
  });
  return missing - awaited.length > 0;
}

/** The fleet in which nodes that a failure of this volume suggests are dead count as not ready already. */
function withoutSilentNodes({ replicas, fleet }: RepairView): FleetView {
  const silent = new Set(
    replicas
      .filter((replica) => {
        const node = nodeById(fleet, replica.nodeId);
        return node !== undefined && failedAtMs(replica) > (node.lastHeartbeatAt?.getTime() ?? 0);
      })
      .map(({ nodeId }) => nodeId),
  );
  // The usual fleet is passed on as it is: results kept with its lists stay valid.
  if (silent.size === 0) return fleet;
  const nodes = fleet.nodes.map((node) => (silent.has(node.id) ? { ...node, conditions: [] } : node));
  return { ...fleet, nodes };
}

/**
 * Why the next missing replica has no place: for the Scheduled condition. `undefined` when none is missing, or it is
 * not time to look for one.
 */
export function refusalsOfMissing(view: VolumeView, now: Date): readonly CandidateRefusal[] | undefined {
  const { volume, replicas, fleet } = view;
  const hasUnplaced = replicas.some(({ diskId, intent }) => diskId === undefined && intent === 'keep');
  const placement = hasUnplaced
    ? placeReplica(placementRequest(volume, replicas, fleet), fleet, now)
    : volume.lifecycle.state === 'attached' || misplacedCopies(view).length > 0 || isRebuiltOffline(view)
      ? placementOfMissing(volume.lifecycle.state === 'detached' ? withLostCopies(view, now) : view, now)
      : undefined;
  return placement?.kind === 'refused' ? placement.refusals : undefined;
}
