/**
 * Move of a copy by hand: where it would go, or why it can't. The plan that users see beforehand and the request itself ask
 * this one function.
 */
import type { DiskId, NodeId, ReplicaId } from '../model/ids.js';
import type { StorageDisk } from '../model/node.js';
import { isHealthy, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { nodeById, nodeName } from '../model/volume-facts.js';
import { actionFacts } from '../policy/action-facts.js';
import { type Refusal, refuse } from '../policy/decision.js';
import { refusalWhileDeleting, refusalWhileFilling } from '../policy/refusals.js';
import type { CandidateRefusal } from '../scheduling/framework/framework.js';
import { curesOf } from '../scheduling/placement/explain.js';
import { usableOnceWritten } from '../scheduling/tiers/usable-space.js';
import { whyNotMovable } from './choose-move.js';
import { type MoveTarget, placeInstead } from './place-instead.js';
import { type PlannedMove, placeOf, placeText } from './planned-move.js';

/** Which copy, and where to. Without a node and a disk the scheduler chooses. */
export type MoveWish = {
  readonly replicaId: ReplicaId;
  readonly nodeId?: NodeId | undefined;
  readonly diskId?: DiskId | undefined;
};

/** One disk, and whether the copy could go there. */
export type MoveCandidate = {
  readonly nodeId: NodeId;
  readonly nodeName: string;
  readonly diskId: DiskId;
  readonly diskName: string;
  /** Why not; `undefined`: it could. */
  readonly refusal: { readonly reason: string; readonly message: string; readonly cure: string } | undefined;
};

export type MoveFound = {
  readonly kind: 'move';
  readonly move: PlannedMove;
  /** The volume is detached: it is attached without an address until the copy has moved. */
  readonly attaches: boolean;
};
export type MoveDecision =
  | MoveFound
  /** It is on its way there already. */
  | { readonly kind: 'unchanged'; readonly why: string }
  | Refusal;

/** Disks that a plan names. Where there are more, those with the least room are left out: a copy goes to none of them. */
const CANDIDATES_MAX = 200;

export function decideMove(view: VolumeView, wish: MoveWish, now: Date): MoveDecision {
  const replica = view.replicas.find(({ id }) => id === wish.replicaId);
  if (replica === undefined) {
    const why = `the volume has no replica ${wish.replicaId}`;
    return refuse('replica.not_found', why, ['choose one of its replicas']);
  }
  const wrong =
    wrongTarget(view, replica, wish) ?? wrongReplica(view, replica) ?? takenTarget(view, replica, wish);
  if (wrong !== undefined) return wrong;
  const started = underWay(view, replica, wish);
  if (started !== undefined) return started;
  return notNow(view) ?? notLocal(view, wish) ?? placed(view, replica, wish, now);
}

/** The disks that the wish leaves open, up to `CANDIDATES_MAX`, those that could take the copy first. */
export function moveCandidates(view: VolumeView, wish: MoveWish, now: Date): MoveCandidate[] {
  const replica = view.replicas.find(({ id }) => id === wish.replicaId);
  if (replica === undefined) return [];
  const nodeId = targetNodeId(view, wish);
  const disks = view.fleet.disks
    .filter((disk) => nodeId === undefined || disk.nodeId === nodeId)
    .filter(({ id }) => wish.diskId === undefined || id === wish.diskId);
  const roomiest = disks.toSorted((a, b) => roomOf(b) - roomOf(a)).slice(0, CANDIDATES_MAX);
  const candidates = roomiest.map((disk): MoveCandidate => {
    const named = {
      nodeId: disk.nodeId,
      nodeName: nodeName(view.fleet, disk.nodeId),
      diskId: disk.id,
      diskName: disk.name,
    };
    if (disk.id === replica.diskId) return { ...named, refusal: HERE };
    const target = { nodeId: disk.nodeId, diskIds: new Set([disk.id]) };
    return { ...named, refusal: refusalOn(placeInstead(view, replica, target, now), disk.id) };
  });
  return candidates.sort((a, b) => Number(a.refusal !== undefined) - Number(b.refusal !== undefined));
}

function roomOf(disk: StorageDisk): number {
  const { storageAvailableBytes, storageReservedBytes, storageScheduledBytes, writtenBytes } = disk;
  return usableOnceWritten(storageAvailableBytes, storageReservedBytes, storageScheduledBytes, writtenBytes);
}

const HERE = {
  reason: 'CopyIsThere',
  message: 'the disk holds the copy that is to move',
  cure: 'choose another disk',
};

function refusalOn(placement: ReturnType<typeof placeInstead>, diskId: DiskId): MoveCandidate['refusal'] {
  if (placement.kind === 'placed') return undefined;
  const own = placement.refusals.find((refusal) => refusal.diskId === diskId) ?? placement.refusals[0];
  if (own === undefined)
    return { reason: 'NoDisk', message: 'the cluster has no such disk', cure: 'add a disk' };
  const { reason, message, cure } = own.rejection;
  return { reason, message, cure };
}

function targetNodeId({ fleet }: VolumeView, { nodeId, diskId }: MoveWish): NodeId | undefined {
  return nodeId ?? fleet.disks.find(({ id }) => id === diskId)?.nodeId;
}

/** Places that the cluster does not have. */
function wrongTarget({ fleet }: VolumeView, _: Replica, { nodeId, diskId }: MoveWish): Refusal | undefined {
  if (nodeId !== undefined && nodeById(fleet, nodeId) === undefined)
    return refuse('node.not_found', `the cluster has no node ${nodeId}`);
  if (diskId === undefined) return undefined;
  const disk = fleet.disks.find(({ id }) => id === diskId);
  if (disk === undefined) return refuse('disk.not_found', `the cluster has no disk ${diskId}`);
  if (nodeId === undefined || disk.nodeId === nodeId) return undefined;
  const [wanted, real] = [nodeName(fleet, nodeId), nodeName(fleet, disk.nodeId)];
  return refuse('disk.not_found', `node ${wanted} has no disk ${disk.name}: it is on ${real}`, [
    `name node ${real}, or leave the node out`,
  ]);
}

/** Only a full copy moves: another one holds nothing worth the trip. */
function wrongReplica({ fleet }: VolumeView, replica: Replica): Refusal | undefined {
  const where = nodeName(fleet, replica.nodeId);
  if (replica.intent === 'remove') {
    return refuse('replica.not_full', `the replica on ${where} is being removed`, ['choose another replica']);
  }
  if (isHealthy(replica) && placeOf(replica) !== undefined) return undefined;
  const state = replica.failedAt === undefined ? 'is not a full copy yet' : 'has failed';
  return refuse('replica.not_full', `the replica on ${where} ${state}: only a full copy can be moved`, [
    replica.failedAt === undefined
      ? 'wait until it has been rebuilt'
      : 'delete it: another is built elsewhere',
    'choose a healthy replica',
  ]);
}

/** Where a copy of the volume is already: the moving one itself, or another one on the wanted disk. */
function takenTarget(view: VolumeView, replica: Replica, { nodeId, diskId }: MoveWish): Refusal | undefined {
  const { fleet, replicas } = view;
  if (diskId !== undefined) {
    const occupant = replicas.find((other) => other.diskId === diskId && other.intent !== 'remove');
    if (occupant === undefined || isReplacementOf(occupant, replica)) return undefined;
    return taken(`disk ${fleet.disks.find(({ id }) => id === diskId)?.name ?? diskId}`, occupant, replica);
  }
  const hasOtherDisk = fleet.disks.some((disk) => disk.nodeId === nodeId && disk.id !== replica.diskId);
  const staysThere = nodeId !== undefined && replica.nodeId === nodeId && !hasOtherDisk;
  return staysThere ? taken(`node ${nodeName(fleet, nodeId)}`, replica, replica) : undefined;
}

function isReplacementOf({ relocation }: Replica, { id }: Replica): boolean {
  return relocation?.replacesId === id;
}

function taken(where: string, occupant: Replica, moving: Replica): Refusal {
  const which =
    occupant.id === moving.id ? 'the copy already' : `replica ${occupant.id} of the volume already`;
  return refuse('replica.place_taken', `${where} holds ${which}`, [
    'choose another disk or node',
    'leave both out: the scheduler then chooses',
  ]);
}

function underWay(view: VolumeView, replica: Replica, wish: MoveWish): MoveDecision | undefined {
  const moving = view.replicas.find(
    ({ relocation, intent }) => relocation !== undefined && intent !== 'remove',
  );
  if (moving === undefined) return undefined;
  const isSameNode = wish.nodeId === undefined || moving.nodeId === wish.nodeId;
  const isSameDisk = wish.diskId === undefined || moving.diskId === wish.diskId;
  const isSame = isReplacementOf(moving, replica) && moving.relocation?.reason === 'requested';
  if (isSame && isSameNode && isSameDisk)
    return { kind: 'unchanged', why: 'the copy is on its way there already' };
  return refuse(
    'volume.busy',
    `a copy of the volume is on its way to ${nodeName(view.fleet, moving.nodeId)}`,
    ['wait until it is there', `call that off: delete replica ${moving.id}`],
  );
}

function notNow(view: VolumeView): Refusal | undefined {
  const { volume } = view;
  const { state, isDeleting, isBeingFilled, isRepairing, name } = actionFacts(view);
  const refusal = refusalWhileDeleting({ name, isDeleting }) ?? refusalWhileFilling({ name, isBeingFilled });
  if (refusal !== undefined) return refusal;
  if (isRepairing) {
    const why = `volume ${name} is detached, and attached for a rebuild just now`;
    return refuse('volume.busy', why, ['wait until that has ended', 'attach it']);
  }
  if (state !== 'attached' && state !== 'detached')
    return refuse('volume.busy', `volume ${name} is ${state}`, ['wait until it is attached or detached']);
  const why = whyNotMovable(view);
  if (why === undefined) return undefined;
  return refuse('volume.busy', `volume ${volume.name} ${why}`, ['wait until that has ended']);
}

/** Strict locality keeps the only copy with its engine. */
function notLocal({ volume, fleet }: VolumeView, { nodeId }: MoveWish): Refusal | undefined {
  if (volume.spec.dataLocality !== 'strict-local' || volume.lifecycle.state !== 'attached') return undefined;
  const holderId = volume.lifecycle.grant.nodeId;
  if (nodeId === undefined || nodeId === holderId) return undefined;
  return refuse(
    'volume.strict_local',
    `volume ${volume.name} has strict data locality, and its engine is on ${nodeName(fleet, holderId)}`,
    [
      `move it to another disk of ${nodeName(fleet, holderId)}`,
      'detach it, and set dataLocality to best-effort',
    ],
  );
}

function placed(view: VolumeView, replica: Replica, wish: MoveWish, now: Date): MoveDecision {
  const from = placeOf(replica);
  const nodeId = targetNodeId(view, wish);
  const diskIds = wish.diskId === undefined ? undefined : new Set([wish.diskId]);
  const target: MoveTarget = { nodeId, diskIds };
  const placement = placeInstead(view, replica, target, now);
  if (from !== undefined && placement.kind === 'placed') {
    const to = { nodeId: placement.nodeId, diskId: placement.diskId };
    const move: PlannedMove = { replica, from, to, reason: 'requested', gain: 'a user wants it there' };
    return { kind: 'move', move, attaches: view.volume.lifecycle.state === 'detached' };
  }
  return noPlacementWait(view, placement.kind === 'refused' ? placement.refusals : [], nodeId);
}

function noPlacementWait(
  view: VolumeView,
  refusals: readonly CandidateRefusal[],
  nodeId: NodeId | undefined,
): Refusal {
  const asked = refusals.filter((refusal) => nodeId === undefined || refusal.nodeId === nodeId);
  const reasons = asked.map(
    ({ nodeName: node, diskName, rejection }) => `${diskName ?? node}: ${rejection.message}`,
  );
  const isTaken = nodeId !== undefined && asked.length > 0 && asked.every(isOccupied);
  const where = nodeId === undefined ? 'any other place' : `node ${nodeName(view.fleet, nodeId)}`;
  const why = `the copy can not move to ${where}: ${reasons.slice(0, REASONS_MAX).join('; ') || 'there is no other disk'}`;
  return refuse(
    isTaken ? 'replica.place_taken' : 'replica.no_place',
    why,
    curesOf(asked).slice(0, REASONS_MAX),
  );
}

const REASONS_MAX = 5;

function isOccupied({ rejection }: CandidateRefusal): boolean {
  return ['NodeOccupied', 'ZoneOccupied', 'DiskOccupied'].includes(rejection.reason);
}

/** `from disk disk-1 of n1 to disk disk-2 of n2` */
export function moveText({ from, to }: Pick<PlannedMove, 'from' | 'to'>, view: VolumeView): string {
  return `from ${placeText(from, view)} to ${placeText(to, view)}`;
}
