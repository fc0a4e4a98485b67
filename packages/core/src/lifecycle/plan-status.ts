/**
 * Planner of the status that users see: state, robustness, conditions, and required decisions.
 *
 * Nothing here acts. The next run corrects a wrong status.
 */

import type { Change, VolumePatch } from '../model/changes.js';
import type { EventType } from '../model/event-types.js';
import { isNodeReady } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { robustnessAtRest, robustnessInUse } from '../model/robustness.js';
import type { VolumeView } from '../model/views.js';
import type { Attention, Robustness } from '../model/volume.js';
import {
  diskById,
  isOnReadyNode,
  isReachable,
  nodeById,
  nodeName,
  volumeEvent,
} from '../model/volume-facts.js';
import { afterCreation, holderOf, isDetachForced, requestOf } from '../model/volume-lifecycle.js';
import { differenceConditions } from './differing-copies.js';
import { placementConditions } from './placement-conditions.js';
import { attachObstacle, missingEngine } from './plan-attachment.js';
import { failoverAt } from './plan-failover.js';
import { waitingConditions } from './rebuild-waiting-conditions.js';
import { relocationConditions } from './relocation-conditions.js';
import { countedConditions } from './snapshot-count-conditions.js';
import { curesElsewhere, DISKS_FULL, isFull, placeOf } from './start-obstacles.js';
import { causeOfStatus } from './status-cause.js';
import type { Step } from './step.js';

export function planStatus(view: VolumeView, now: Date): Step | undefined {
  const { volume } = view;
  const robustness = robustnessOf(view);
  const attention = attentionOf(view, now);
  const patch: VolumePatch = {};

  // A volume stops being `creating` once every copy that can be made now exists: that comes before this concern.
  const lifecycle = afterCreation(volume.lifecycle);
  if (lifecycle !== volume.lifecycle) patch.lifecycle = lifecycle;
  if (robustness !== volume.robustness) {
    patch.robustness = robustness;
    patch.lastDegradedAt = robustness === 'degraded' ? (volume.lastDegradedAt ?? now) : undefined;
  }
  if (!sameAttention(attention, volume.attention)) patch.attention = attention;
  if (volume.observedGeneration !== volume.generation) patch.observedGeneration = volume.generation;
  const placement = placementConditions(view, now);
  Object.assign(patch, placement.patch);
  const counted = countedConditions(view, patch.conditions ?? volume.conditions, now);
  if (counted !== undefined) patch.conditions = counted.conditions;
  const waiting = waitingConditions(view, patch.conditions ?? volume.conditions, now);
  if (waiting !== undefined) patch.conditions = waiting;
  const places = relocationConditions(view, patch.conditions ?? volume.conditions, now);
  if (places !== undefined) patch.conditions = places.conditions;
  const differing = differenceConditions(view, patch.conditions ?? volume.conditions, now);
  if (differing !== undefined) patch.conditions = differing.conditions;
  if (Object.keys(patch).length === 0 && placement.changes.length === 0) return undefined;

  const changes: Change[] = [{ kind: 'volume.patch', volumeId: volume.id, patch }, ...placement.changes];
  return {
    kind: 'commit',
    why: 'the status changed',
    changes: [
      ...changes,
      ...robustnessEvents(view, robustness, now),
      ...(counted?.changes ?? []),
      ...(places?.changes ?? []),
      ...(differing?.changes ?? []),
    ],
  };
}

/**
 * An attach that waits for copies is retried before any other concern of the volume: if fewer copies are left than displayed, that is
 * shown first. The results of its tries, such as that too few copies answer, stay.
 */
export function planShownHealth(view: VolumeView, now: Date): Step | undefined {
  const { lifecycle, robustness } = view.volume;
  const isWorse = WORSE_THAN[robustness].includes(robustnessOf(view));
  return lifecycle.state === 'attaching' && isWorse ? planStatus(view, now) : undefined;
}

const WORSE_THAN: Readonly<Record<Robustness, readonly Robustness[]>> = {
  healthy: ['degraded', 'unknown', 'faulted'],
  degraded: ['unknown', 'faulted'],
  unknown: [],
  faulted: [],
};

/**
 * Attached: by the reported modes. Else as if it were attached, from the last known copies on nodes that are alive and disks that
 * exist.
 */
export function robustnessOf({ volume, replicas, fleet }: VolumeView): Robustness {
  const wanted = volume.spec.numberOfReplicas;
  const { state } = volume.lifecycle;
  if (state === 'attached' || state === 'detaching') {
    const holder = nodeById(fleet, holderOf(volume));
    if (holder === undefined || !isNodeReady(holder)) return 'unknown';
    return robustnessInUse(replicas.filter(({ mode }) => mode === 'RW').length, wanted);
  }
  const healthy = replicas.filter(isHealthy);
  if (healthy.length === 0) {
    // One without any copy has lost them; the first copies of a new volume exist before it does.
    const isLost = replicas.length === 0 && state !== 'creating';
    return isLost || replicas.some(({ failedAt }) => failedAt !== undefined) ? 'faulted' : 'unknown';
  }
  const reachable = healthy.filter((replica) => isReachable(replica, fleet)).length;
  const members = volume.record?.members.length ?? 0;
  // Their nodes answer, and say that the disks are missing.
  const isAwaited = healthy.some((replica) => !isOnReadyNode(replica, fleet));
  const atRest = robustnessAtRest(reachable, wanted, members);
  return atRest === 'unknown' && !isAwaited ? 'faulted' : atRest;
}

function attentionOf(view: VolumeView, now: Date): Attention | undefined {
  const found = holderUnreachable(view) ?? missingEngine(view, now) ?? obstacleOf(view) ?? disksFull(view);
  if (found !== undefined) return { ...found, since: sinceOf(view, found.code, now) };
  // The result of an engine's start stays until it succeeds or the volume is detached.
  const { volume } = view;
  const isStarting = volume.lifecycle.state === 'attaching' && holderOf(volume) !== undefined;
  return isStarting && volume.attention?.code !== HOLDER_UNREACHABLE ? volume.attention : undefined;
}

const HOLDER_UNREACHABLE = 'HolderUnreachable';

function holderUnreachable(view: VolumeView): Omit<Attention, 'since'> | undefined {
  const { volume, fleet } = view;
  const holderId = holderOf(volume);
  if (holderId === undefined || isDetachForced(volume)) return undefined;
  const holder = nodeById(fleet, holderId);
  if (holder !== undefined && isNodeReady(holder)) return undefined;

  const name = nodeName(fleet, holderId);
  return {
    code: HOLDER_UNREACHABLE,
    message: unreachableText(volume, name),
    cures: [
      ...comingFailover(view),
      ...curesElsewhere(view),
      `start the agent on ${name}: the volume then goes on`,
    ],
  };
}

function unreachableText({ lifecycle }: VolumeView['volume'], node: string): string {
  // A start may have reached the node and been answered too late, so that an engine may run there.
  if (lifecycle.state === 'attaching')
    return `the volume is not attached: node ${node}, which is to serve it, does not answer`;
  const action = lifecycle.state === 'detaching' ? 'can not be detached' : 'hangs';
  return `the volume ${action}: its engine is on node ${node}, which does not answer`;
}

/** The time is not named: it would be another one for each volume with the same policy. */
function comingFailover(view: VolumeView): string[] {
  return failoverAt(view) === undefined
    ? []
    : ['wait: by its policy it is attached elsewhere, as soon as enough of its copies answer'];
}

/** One full disk costs its copy; when all copies are on full disks no write can be taken. */
function disksFull(view: VolumeView): Omit<Attention, 'since'> | undefined {
  const { volume, replicas, fleet } = view;
  const inUse = replicas.filter(({ mode }) => mode === 'RW');
  const isOnFull = ({ diskId }: Replica) => isFull(diskById(fleet, diskId));
  if (volume.lifecycle.state !== 'attached' || inUse.length === 0 || !inUse.every(isOnFull)) return undefined;
  const places = inUse.map(({ id }) => placeOf(view, id));
  return {
    code: DISKS_FULL,
    message: `writes may be refused, reads go on: the disks of all its copies are full: ${places.join(', ')}`,
    cures: places.map((place) => `free space on ${place}, or make it larger; the volume then goes on`),
  };
}

function obstacleOf(view: VolumeView): Omit<Attention, 'since'> | undefined {
  const { volume } = view;
  const isWaiting = requestOf(volume) !== undefined && holderOf(volume) === undefined;
  return isWaiting && volume.lifecycle.state !== 'detaching' && !isBeingMade(view)
    ? attachObstacle(view)
    : undefined;
}

/** Its first copies are being made, on nodes that answer: the attach that a user requested follows automatically. */
function isBeingMade({ volume, replicas, fleet }: VolumeView): boolean {
  return volume.lifecycle.state === 'creating' && replicas.every((replica) => isOnReadyNode(replica, fleet));
}

function sinceOf({ volume }: VolumeView, code: string, now: Date): Date {
  return volume.attention?.code === code ? volume.attention.since : now;
}

function sameAttention(a: Attention | undefined, b: Attention | undefined): boolean {
  return a?.code === b?.code && a?.message === b?.message;
}

const ROBUSTNESS_EVENTS = {
  healthy: 'VolumeHealthy',
  degraded: 'VolumeDegraded',
  faulted: 'VolumeFaulted',
  unknown: 'VolumeUnknown',
} as const satisfies Record<Robustness, EventType>;

export function robustnessEvents(view: VolumeView, robustness: Robustness, now: Date): Change[] {
  const { volume } = view;
  if (robustness === volume.robustness) return [];
  const type = ROBUSTNESS_EVENTS[robustness];
  const message = `volume ${volume.name} is ${robustness}, it was ${volume.robustness}`;
  const cause = causeOfStatus(view, robustness, now);
  return [{ kind: 'event', event: volumeEvent(view, now, { type, message, cause }) }];
}
