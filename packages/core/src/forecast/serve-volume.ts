/**
 * Is a projected volume served by an engine, so that its copies can be built? By its users' attachment, by one elsewhere after
 * a failover, or by the worker's own for the time of its moves.
 */
import { blockText } from '../admission/waiting.js';
import { awayUntil, withLostCopies } from '../lifecycle/lost-places.js';
import { isLeaving } from '../lifecycle/node-volumes.js';
import { attachNode } from '../lifecycle/plan-attachment.js';
import { canStartElsewhere, failoverAt } from '../lifecycle/plan-failover.js';
import { DETACHED_MOVES_MAX } from '../lifecycle/plan-offline-rebuild.js';
import { isRebuiltOffline, isTimeForCopy, reusableReplica } from '../lifecycle/plan-replenishment.js';
import { isNodeReady } from '../model/node.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { isAwaitingRebuild } from '../model/volume-facts.js';
import {
  type AttachmentRequest,
  afterRequest,
  DETACHED,
  holderOf,
  isRepairing,
  requestOf,
} from '../model/volume-lifecycle.js';
import { decideSurplus } from '../policy/decide-surplus.js';
import {
  comingOf,
  copiesOf,
  isReachable,
  nowOf,
  type ProjectedVolume,
  type ProjectionState,
  repairView,
  type VolumeEnd,
} from './projected-volume.js';

/** @returns whether it is served now; else its `wakeMs` or `end` give the reason for waiting, if there is one */
export function serve(projected: ProjectedVolume, projection: ProjectionState): boolean {
  if (projected.use !== 'idle') return true;
  if (copiesOf(projected, projection).length === 0) {
    projected.end = endWithoutCopies(projected, projection);
    return false;
  }
  const { volume } = projected;
  const isWanted = requestOf(volume) !== undefined && !isRepairing(volume);
  return isWanted ? serveItsUsers(projected, projection) : serveForRepair(projected, projection);
}

function serveItsUsers(projected: ProjectedVolume, projection: ProjectionState): boolean {
  const { volume } = projected;
  const holder = projection.lookup.nodeOf(holderOf(volume));
  if (holderOf(volume) === undefined || (holder !== undefined && isNodeReady(holder))) {
    return begin(projected, projection, 'served');
  }
  const view = repairView(projected, projection);
  const at = failoverAt(view)?.getTime();
  const name = holder?.name ?? 'of its engine';
  if (at === undefined) {
    const why = `its engine is on node ${name}, which is lost: it is rebuilt once a user detaches it with force and attaches it elsewhere`;
    return wait(projected, { kind: 'waiting', why });
  }
  if (at > projection.nowMs) return waitUntil(projected, projection, at);
  if (!canStartElsewhere(view)) {
    const why = `it is not attached elsewhere by its policy: fewer than half of its copies are left beside node ${name}`;
    return wait(projected, { kind: 'waiting', why });
  }
  const request = { nodeId: undefined, requestedAt: nowOf(projection) };
  projected.volume = attachedAnew(projected, projection, request);
  return begin(projected, projection, 'served');
}

/** On the node that a new attachment would be granted to: its reads from there count on no other node. */
function attachedAnew(
  projected: ProjectedVolume,
  projection: ProjectionState,
  request: AttachmentRequest,
): ProjectedVolume['volume'] {
  const volume = { ...projected.volume, lifecycle: afterRequest(DETACHED, request) };
  const nodeId = attachNode({ ...repairView(projected, projection), volume });
  if (nodeId === undefined) return projected.volume;
  const grant = { nodeId, bootId: undefined, secret: '' };
  const endpoint = { host: '', port: 0, exportName: '' };
  return { ...volume, lifecycle: { state: 'attached', request, grant, endpoint } };
}

/** A detached volume is attached for its moves, a few at a time, or for its rebuilds where that is wanted. */
function serveForRepair(projected: ProjectedVolume, projection: ProjectionState): boolean {
  const { volume } = projected;
  const copies = { replicas: projected.replicas, fleet: projection.fleet.view };
  const away = Math.max(0, ...projected.replicas.map((replica) => awayUntil(replica, copies).getTime()));
  const isRebuilt = isRebuiltOffline(repairView(projected, projection));
  // Copies on lost places count as failed once the wait for them is over.
  const { replicas } = isRebuilt ? withLostCopies(copies, nowOf(projection)) : projected;
  const leaving = replicas.filter(
    (replica) => isHealthy(replica) && isLeaving(replica, projected, projection.lookup),
  );
  const full = replicas.filter((replica) => isHealthy(replica) && replica.intent === 'keep');
  const isLacking = full.length < volume.spec.numberOfReplicas;
  if (leaving.length === 0 && !isLacking) {
    if (isWhole(projected, projection)) return wait(projected, FULL);
    return isRebuilt && away > projection.nowMs
      ? waitUntil(projected, projection, away)
      : wait(projected, NOT_IN_USE);
  }
  if (leaving.length === 0 && !isRebuilt) return wait(projected, NOT_IN_USE);
  if (volume.rebuildHold !== undefined) {
    return wait(projected, { kind: 'waiting', why: blockText(volume.rebuildHold).waitingFor });
  }
  projected.replicas = replicas;
  if (leaving.length > 0 && away > projection.nowMs) return waitUntil(projected, projection, away);
  if (!canGoOn(projected, projection)) return wait(projected, { kind: 'unschedulable' });
  const turnOf = leaving[0]?.nodeId;
  const taken = turnOf === undefined ? 0 : (projection.turns.get(turnOf) ?? 0);
  if (taken >= DETACHED_MOVES_MAX) return wait(projected, undefined);
  if (turnOf !== undefined) projection.turns.set(turnOf, taken + 1);
  projected.turnOf = turnOf;
  const request = { nodeId: undefined, requestedAt: nowOf(projection), purpose: 'rebuild' } as const;
  projected.volume = attachedAnew(projected, projection, request);
  return begin(projected, projection, 'repairing');
}

const FULL: VolumeEnd = { kind: 'full' };
const NOT_IN_USE: VolumeEnd = {
  kind: 'waiting',
  why: 'it is detached: its copies are built when it is attached, or at once with offline-replica-rebuilding',
};

function isWhole(projected: ProjectedVolume, projection: ProjectionState): boolean {
  return copiesOf(projected, projection).length >= projected.volume.spec.numberOfReplicas;
}

/** Would an engine have something to do: a copy to build or one too many? */
function canGoOn(projected: ProjectedVolume, projection: ProjectionState): boolean {
  const view = repairView(projected, projection);
  if (decideSurplus(view) !== undefined) return true;
  if (rebuildsStoppedBy(projection.fleet.view.settings) !== undefined) return false;
  if (comingOf(projected, projection).some((replica) => isReachable(replica, projection))) return true;
  if (reusableReplica(view, nowOf(projection)) !== undefined) return true;
  if (!isTimeForCopy(view, nowOf(projection))) return false;
  return projection.fleet.find(projected.volume, projected.replicas, nowOf(projection)) !== undefined;
}

/** An engine starts on the copies that answer, or has noticed that the others do not: these count as failed. */
function begin(
  projected: ProjectedVolume,
  projection: ProjectionState,
  use: 'served' | 'repairing',
): boolean {
  const isAtStart = projection.nowMs === projection.startedMs;
  const noticedAt = new Date(projection.nowMs + (isAtStart ? projection.pace.lateSeconds * 1000 : 0));
  projected.use = use;
  projected.end = undefined;
  projected.replicas = projected.replicas.map((replica): Replica => {
    if (isReachable(replica, projection)) return isHealthy(replica) ? { ...replica, mode: 'RW' } : replica;
    const isUsed = isHealthy(replica) || isAwaitingRebuild(replica);
    return isUsed ? { ...replica, mode: 'ERR', failedAt: noticedAt } : replica;
  });
  const { rebuild } = projected;
  const target = projected.replicas.find(({ id }) => id === rebuild?.targetReplicaId);
  if (rebuild !== undefined && (target === undefined || target.failedAt !== undefined)) {
    projection.line.remove(rebuild.id);
    projected.rebuild = undefined;
  }
  return true;
}

function endWithoutCopies({ replicas }: ProjectedVolume, { lookup }: ProjectionState): VolumeEnd {
  const full = replicas.filter(isHealthy);
  if (full.length > 0 && full.every(({ nodeId, diskId }) => lookup.nodeOf(nodeId) && lookup.diskOf(diskId)))
    return { kind: 'lost' };
  return { kind: 'waiting', why: 'none of its copies is known to be full' };
}

function wait(projected: ProjectedVolume, end: VolumeEnd | undefined): false {
  projected.end = end;
  return false;
}

export function waitUntil(projected: ProjectedVolume, { pace }: ProjectionState, atMs: number): false {
  projected.wakeMs = atMs + pace.lateSeconds * 1000;
  return false;
}
