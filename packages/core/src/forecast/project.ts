/**
 * Projection: a cluster played forward from the moment after a change until nothing moves any more, at one speed.
 *
 * A discrete-event simulation that asks the rules of the product: the scheduler for places, the rules of replenishment for times,
 * admission for starts. Unpredictable events (further failures, users) do not happen in it.
 */
import { fleetLookup } from '../lifecycle/node-volumes.js';
import { isDeleting } from '../model/volume-lifecycle.js';
import { WorkingFleet } from '../scheduling/simulation/working-fleet.js';
import type { Pace } from './pace.js';
import { planAfterRebuild, planCopies } from './plan-copies.js';
import {
  type ProjectedVolume,
  type ProjectionState,
  projectedVolume,
  stayingCopies,
  type VolumeEnd,
} from './projected-volume.js';
import type { ProjectionInput } from './projection-input.js';
import { RebuildQueue } from './rebuild-queue.js';

/**
 * Events, at which something ends or begins. Each costs a pass over the queue; as many rebuilds as one answer may have volumes with
 * three copies each.
 */
const STEPS_MAX = 30_000;
/** Volumes without a place that are tried again when room has become free: the first would take it. */
const RELOOKS_MAX = 50;

export type Projection = {
  readonly projection: ProjectionState;
  readonly volumes: readonly ProjectedVolume[];
  /** Seconds until the last copy is built; `undefined`: none is. */
  readonly endSeconds: number | undefined;
  readonly rebuilds: number;
  /** The bound on steps ended it: later copies are not in it. */
  readonly isCut: boolean;
};

export function project(scene: ProjectionInput, pace: Pace, now: Date): Projection {
  const projection = beginProjection(scene, pace, now);
  const volumes = scene.volumes
    .filter(({ volume }) => !isDeleting(volume))
    .map((given) => projectedVolume(given, projection));
  for (const projected of volumes) joinLine(projected, projection);
  for (const projected of volumes) planCopies(projected, projection);
  const { endMs, rebuilds, isCut } = play(volumes, projection, now);
  for (const projected of volumes) projected.end = endOf(projected, projection);
  const endSeconds = endMs === undefined ? undefined : (endMs - projection.startedMs) / 1000;
  return { projection, volumes, endSeconds, rebuilds, isCut };
}

function beginProjection({ fleet }: ProjectionInput, pace: Pace, now: Date): ProjectionState {
  const nowMs = now.getTime();
  return {
    fleet: new WorkingFleet(fleet, now),
    lookup: fleetLookup(fleet),
    line: new RebuildQueue(fleet, pace),
    pace,
    startedMs: nowMs,
    nowMs,
    added: 0,
    hasRoomAgain: false,
    turns: new Map(),
    byRebuild: new Map(),
  };
}

/** Rebuilds that wait or run at the start. */
function joinLine(projected: ProjectedVolume, projection: ProjectionState): void {
  const { rebuild, volume } = projected;
  if (rebuild === undefined) return;
  const bytes = rebuild.bytes.total > 0 ? rebuild.bytes.total : volume.writtenBytes;
  projected.bytes += Math.round(bytes * (1 - rebuild.percent / 100));
  projection.byRebuild.set(rebuild.id, projected);
  projection.line.add(rebuild, { bytes, spec: volume.spec });
}

type Played = { readonly endMs: number | undefined; readonly rebuilds: number; readonly isCut: boolean };

function play(volumes: readonly ProjectedVolume[], projection: ProjectionState, now: Date): Played {
  let endMs: number | undefined;
  let rebuilds = 0;
  for (let steps = 0; steps < STEPS_MAX; steps += 1) {
    projection.line.admit(now);
    const wakeMs = nextWakeMs(volumes);
    const seconds = Math.min(
      projection.line.secondsToNextEnd() ?? Number.POSITIVE_INFINITY,
      (wakeMs - projection.nowMs) / 1000,
    );
    if (!Number.isFinite(seconds)) return { endMs, rebuilds, isCut: false };
    projection.nowMs += Math.max(0, seconds) * 1000;
    const ended = projection.line.pass(Math.max(0, seconds));
    if (ended.length > 0) endMs = projection.nowMs;
    rebuilds += ended.length;
    for (const rebuild of ended) {
      const projected = projection.byRebuild.get(rebuild.id);
      if (projected !== undefined) planAfterRebuild(projected, rebuild, projection);
    }
    for (const projected of volumes) {
      if (projected.wakeMs !== undefined && projected.wakeMs <= projection.nowMs)
        planCopies(projected, projection);
    }
    if (ended.length > 0 && (projection.hasRoomAgain || projection.turns.size > 0))
      lookAgain(volumes, projection);
  }
  return { endMs, rebuilds, isCut: true };
}

function nextWakeMs(volumes: readonly ProjectedVolume[]): number {
  let next = Number.POSITIVE_INFINITY;
  for (const { wakeMs } of volumes) if (wakeMs !== undefined && wakeMs < next) next = wakeMs;
  return next;
}

/** Volumes without a place, once there is room again, and detached ones that wait to be moved. */
function lookAgain(volumes: readonly ProjectedVolume[], projection: ProjectionState): void {
  const mayFit = (projected: ProjectedVolume) =>
    projection.hasRoomAgain && projected.end?.kind === 'unschedulable';
  const waitsForTurn = ({ use, end, wakeMs, rebuild }: ProjectedVolume) =>
    use === 'idle' && end === undefined && wakeMs === undefined && rebuild === undefined;
  const again = volumes.filter((projected) => mayFit(projected) || waitsForTurn(projected));
  for (const projected of again.slice(0, RELOOKS_MAX)) planCopies(projected, projection);
  projection.hasRoomAgain = false;
}

function endOf(projected: ProjectedVolume, projection: ProjectionState): VolumeEnd {
  const { end, volume, rebuild } = projected;
  if (end !== undefined && end.kind !== 'full') return end;
  if (stayingCopies(projected, projection).length >= volume.spec.numberOfReplicas) return { kind: 'full' };
  if (rebuild !== undefined)
    return { kind: 'waiting', why: 'its rebuild waits: it is paused, or no limit lets it begin' };
  return { kind: 'waiting', why: 'a copy that it waits for is not replaced' };
}
