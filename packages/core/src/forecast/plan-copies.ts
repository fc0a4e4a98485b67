/** Next step of a projected volume: the rules that its reconciler follows, applied to its rows as they would be by then. */
import { blockText } from '../admission/waiting.js';
import { IDLE_MS_MAX, REST_MS } from '../lifecycle/plan-offline-rebuild.js';
import { onlyRelocates } from '../lifecycle/plan-rebuild-priority.js';
import { isTimeForCopy, reusableReplica } from '../lifecycle/plan-replenishment.js';
import { chosenSources, sourceNodes } from '../lifecycle/rebuild-sources.js';
import { Bug } from '../model/faults.js';
import { asId, type RebuildId, type ReplicaId } from '../model/ids.js';
import { newRebuild, type Rebuild } from '../model/rebuild.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isHealthy, newReplica, type Replica } from '../model/replica.js';
import { unneededCopies } from '../model/volume-facts.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { decideRemoval } from '../policy/decide-removal.js';
import { decideSurplus } from '../policy/decide-surplus.js';
import { placeHeldUntil } from '../scheduling/framework/occupancy.js';
import {
  comingOf,
  isReachable,
  noteCopies,
  nowOf,
  type ProjectedVolume,
  type ProjectionState,
  repairView,
  stayingCopies,
} from './projected-volume.js';
import { serve, waitUntil } from './serve-volume.js';

/** Brings the volume to where it waits: for its rebuild, for a time, for room, or for nothing. */
export function planCopies(projected: ProjectedVolume, projection: ProjectionState): void {
  projected.wakeMs = undefined;
  projected.end = undefined;
  if (serve(projected, projection) && projected.rebuild === undefined) repair(projected, projection);
  noteCopies(projected, projection);
}

/** Its rebuild has ended: the target is a full copy. */
export function planAfterRebuild(
  projected: ProjectedVolume,
  rebuild: Rebuild,
  projection: ProjectionState,
): void {
  const now = nowOf(projection);
  projected.rebuild = undefined;
  projected.replicas = projected.replicas.map(
    (replica): Replica =>
      replica.id === rebuild.targetReplicaId
        ? { ...replica, mode: 'RW', healthyAt: now, lastHealthyAt: now, failedAt: undefined }
        : replica,
  );
  planCopies(projected, projection);
}

function repair(projected: ProjectedVolume, projection: ProjectionState): void {
  const { volume } = projected;
  if (volume.rebuildHold !== undefined) {
    projected.end = { kind: 'waiting', why: blockText(volume.rebuildHold).waitingFor };
    return;
  }
  const coming = comingOf(projected, projection);
  const unneeded = unneededCopies(repairView(projected, projection));
  const target = coming.find((replica) => isReachable(replica, projection) && !unneeded.includes(replica));
  const isComplete =
    stayingCopies(projected, projection).length + coming.length >= volume.spec.numberOfReplicas;
  if (target !== undefined) queue(projected, target, projection);
  else if (isComplete) finish(projected, projection);
  else replace(projected, projection);
}

/** A failed copy that is back is taken before a new one is placed. */
function replace(projected: ProjectedVolume, projection: ProjectionState): void {
  const reused = reusableReplica(repairView(projected, projection), nowOf(projection));
  if (reused === undefined) addCopy(projected, projection);
  else queue(projected, takenBack(projected, reused), projection);
}

function addCopy(projected: ProjectedVolume, projection: ProjectionState): void {
  const { volume, replicas } = projected;
  const now = nowOf(projection);
  const stop = rebuildsStoppedBy(projection.fleet.view.settings);
  if (stop !== undefined) {
    projected.end = { kind: 'waiting', why: stop.message };
    return;
  }
  if (!isTimeForCopy(repairView(projected, projection), now)) {
    const until = nextReturn(projected, projection);
    if (until !== undefined) waitUntil(projected, projection, restUntil(projected, until, projection));
    return;
  }
  const disk = projection.fleet.find(volume, replicas, now);
  if (disk === undefined) {
    projected.end = { kind: 'unschedulable' };
    return;
  }
  projection.fleet.book(disk.id, claimOf(projected));
  const facts = {
    id: asId<ReplicaId>(`forecast ${volume.id} ${replicas.length}`),
    volumeId: volume.id,
    sizeBytes: volume.spec.sizeBytes,
    secret: '',
    createdAt: now,
  };
  const replica = { ...newReplica(facts, { nodeId: disk.nodeId, diskId: disk.id }), provisioned: true };
  projected.replicas = [...replicas, replica];
  queue(projected, replica, projection);
}

/** The worker does not keep a volume attached for later work: it detaches it, and pauses before it tries again. */
function restUntil(projected: ProjectedVolume, untilMs: number, projection: ProjectionState): number {
  if (projected.use !== 'repairing' || untilMs - projection.nowMs <= IDLE_MS_MAX) return untilMs;
  detach(projected, projection);
  return Math.max(untilMs, projection.nowMs + IDLE_MS_MAX + REST_MS);
}

/** When the next failed copy is not waited for any more. */
function nextReturn(
  { replicas }: ProjectedVolume,
  { fleet, lookup, nowMs }: ProjectionState,
): number | undefined {
  const waitSeconds = fleet.view.settings['replica-replenishment-wait-interval'];
  const coming = replicas
    .map((replica) => placeHeldUntil(replica, { waitSeconds, replicas, nodeOf: lookup.nodeOf })?.getTime())
    .filter((until) => until !== undefined && until > nowMs);
  return coming.length === 0 ? undefined : Math.min(...coming.map((until) => until ?? nowMs));
}

function takenBack(projected: ProjectedVolume, reused: Replica): Replica {
  const back: Replica = { ...reused, failedAt: undefined, healthyAt: undefined, mode: undefined };
  projected.replicas = projected.replicas.map((replica) => (replica.id === reused.id ? back : replica));
  return back;
}

function queue(projected: ProjectedVolume, target: Replica, projection: ProjectionState): void {
  const { volume, replicas } = projected;
  const view = repairView(projected, projection);
  const sources = chosenSources(view);
  if (target.nodeId === undefined) throw new Bug(`replica ${target.id} is to be built and has no place`);
  projection.added += 1;
  const rebuild = newRebuild({
    id: asId<RebuildId>(`forecast ${projection.added}`),
    clusterId: volume.clusterId,
    volumeId: volume.id,
    targetReplicaId: target.id,
    targetNodeId: target.nodeId,
    sourceReplicaIds: sources.map(({ id }) => id),
    sourceNodeIds: sourceNodes(sources),
    healthyCopies: replicas.filter(isHealthy).length,
    sizeBytes: volume.spec.sizeBytes,
    relocates: onlyRelocates(view),
    attempts: 1,
    queuedAt: nowOf(projection),
  });
  projected.rebuild = rebuild;
  projected.bytes += volume.writtenBytes;
  projection.byRebuild.set(rebuild.id, projected);
  projection.line.add(rebuild, { bytes: volume.writtenBytes, spec: volume.spec });
}

/** It has all its copies: surplus ones are removed, and the worker detaches it. */
function finish(projected: ProjectedVolume, projection: ProjectionState): void {
  for (;;) {
    const victim = decideSurplus(repairView(projected, projection))?.replica;
    if (victim === undefined || decideRemoval(projected.replicas, victim.id).kind === 'refuse') break;
    projected.replicas = projected.replicas.filter(({ id }) => id !== victim.id);
    if (victim.diskId === undefined || !isReachable(victim, projection)) continue;
    projection.fleet.release(victim.diskId, claimOf(projected));
    projection.hasRoomAgain = true;
  }
  if (projected.use === 'repairing') detach(projected, projection);
}

function detach(projected: ProjectedVolume, projection: ProjectionState): void {
  projected.use = 'idle';
  projected.volume = { ...projected.volume, lifecycle: DETACHED };
  const { turnOf } = projected;
  if (turnOf === undefined) return;
  projection.turns.set(turnOf, (projection.turns.get(turnOf) ?? 1) - 1);
  projected.turnOf = undefined;
}

function claimOf({ volume }: ProjectedVolume) {
  return { sizeBytes: volume.spec.sizeBytes, writtenBytes: volume.writtenBytes };
}
