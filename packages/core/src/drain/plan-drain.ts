/**
 * Plan of a drain before it is begun: the effect on each volume of the node, obstacles, bytes to copy, duration, and the fewest
 * healthy copies of any volume. Asks the rules that the drain itself follows, on a copy of the fleet; nothing changes.
 */
import { blockText } from '../admission/waiting.js';
import { rangeOf, type TimeEstimate } from '../forecast/pace.js';
import { project } from '../forecast/project.js';
import { fleetLookup, remainingCopies, type VolumeOnNode } from '../lifecycle/node-volumes.js';
import { placementOfMissing } from '../lifecycle/plan-replenishment.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '../model/ids.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import { type DrainPolicy, type DrainWait, isEvictingPolicy } from '../model/node-drain.js';
import type { RebuildSpeed } from '../model/rebuild.js';
import { isHealthy, newReplica, type Replica } from '../model/replica.js';
import type { FleetView, NodeVolumes } from '../model/views.js';
import { holderOf } from '../model/volume-lifecycle.js';
import { withBooking } from '../scheduling/placement/plan-placements.js';
import {
  awaitedCopies,
  beginLook,
  bytesOf,
  type DrainLook,
  isUnderWay,
  movedReplicas,
  noPlacementWait,
  replicasOn,
  stoppedBySettings,
  waitOf,
  waitsOf,
} from './drain-waits.js';

/**
 * Effect on a volume's replicas on the node. `copied`: a further copy is made elsewhere, and the one on the node stays, since the
 * volume wants both. `none`: it has none there, only its engine.
 */
export const DRAIN_OUTCOMES = ['stays', 'moves', 'copied', 'blocked', 'none'] as const;
export type DrainOutcome = (typeof DRAIN_OUTCOMES)[number];

export type DrainPlanVolume = {
  readonly volumeId: VolumeId;
  readonly volumeName: string;
  readonly outcome: DrainOutcome;
  /** Is its engine on the node, and is it detached by the setting? */
  readonly engine: 'elsewhere' | 'running' | 'detached';
  /** Where replicas are expected to go; other volumes may take the room first. */
  readonly targets: readonly { readonly nodeId: NodeId; readonly diskId: DiskId }[];
  readonly bytesToMove: number;
  /** Healthy copies on ready nodes: now, and the fewest from the drain's begin until the node is back. */
  readonly copiesNow: number;
  readonly copiesAtLowest: number;
  /** Until then failed copies may come back, and its replicas on the node stay; `undefined`: they need not wait. */
  readonly waitsUntil: Date | undefined;
  /** Obstacle to the drain's end by this volume. */
  readonly blockers: readonly DrainWait[];
};

export type DrainPlan = {
  readonly policy: DrainPolicy;
  /** Would it end without a user doing anything? */
  readonly isPossible: boolean;
  readonly replicasToMove: number;
  readonly replicasToStay: number;
  readonly bytesToMove: number;
  /** `undefined`: nothing is copied. */
  readonly time: TimeEstimate | undefined;
  /** The fewest healthy copies of any volume of the node; `undefined`: it has no volume. */
  readonly copiesAtLowest: number | undefined;
  /** Of these, each in the order of its id. */
  readonly volumes: readonly DrainPlanVolume[];
};

export function planDrain(
  { id }: Pick<StorageNode, 'id'>,
  policy: DrainPolicy,
  view: NodeVolumes & { readonly speeds: readonly RebuildSpeed[] },
  now: Date,
): DrainPlan {
  const drained = drainedFleet(view.fleet, id, policy, now);
  const node = drained.nodes.find((one) => one.id === id);
  if (node === undefined) return nothing(policy);
  // Moving replicas get their places here, one volume after the other.
  const placementsLeft = isEvictingPolicy(policy) ? 0 : Number.POSITIVE_INFINITY;
  const look = { ...beginLook(node, policy, fleetLookup(drained), now), placementsLeft };

  const moves: Move[] = [];
  const volumes: DrainPlanVolume[] = [];
  let fleet = drained;
  for (const volume of view.volumes.map((one) => asAttached(one, look))) {
    const found = placesOf(volume, look, fleet);
    fleet = found.fleet;
    moves.push(...found.moves);
    volumes.push(planOf(volume, look, found));
  }
  const lowest = volumes.map(({ copiesAtLowest }) => copiesAtLowest);
  return {
    policy,
    isPossible: volumes.every(({ blockers }) => blockers.length === 0),
    replicasToMove: moves.length,
    replicasToStay: countOnNode(view, look) - moves.length,
    bytesToMove: moves.reduce((sum, { bytes }) => sum + bytes, 0),
    time: moves.length === 0 ? undefined : timeOf(view, drained, now),
    copiesAtLowest: lowest.length === 0 ? undefined : Math.min(...lowest),
    volumes,
  };
}

/** Until the last copy of the node's volumes is where it is to be. */
function timeOf(
  { volumes, speeds }: Parameters<typeof planDrain>[2],
  fleet: FleetView,
  now: Date,
): TimeEstimate | undefined {
  const scene = { fleet, volumes: volumes.map((volume) => ({ ...volume, isVisible: true })) };
  return rangeOf(speeds, (pace) => project(scene, pace, now).endSeconds);
}

function nothing(policy: DrainPolicy): DrainPlan {
  return {
    policy,
    isPossible: true,
    replicasToMove: 0,
    replicasToStay: 0,
    bytesToMove: 0,
    time: undefined,
    copiesAtLowest: undefined,
    volumes: [],
  };
}

/** The fleet as it is once the drain has begun. */
function drainedFleet(fleet: FleetView, id: NodeId, policy: DrainPolicy, now: Date): FleetView {
  const drain = { policy, requestedAt: now, wasCordoned: false };
  const nodes = fleet.nodes.map((node) => (node.id === id ? { ...node, cordoned: true, drain } : node));
  return { ...fleet, nodes };
}

/**
 * A detached volume is attached to be moved, which gives up copies on nodes that are down. A plan needs their number and nodes, so
 * they count as failed at once.
 */
function asAttached(volume: VolumeOnNode, look: DrainLook): VolumeOnNode {
  const isMoved = movedReplicas(volume, look).some(isHealthy);
  if (volume.volume.lifecycle.state !== 'detached' || !isMoved) return volume;
  const replicas = volume.replicas.map((replica) => {
    const node = look.lookup.nodeOf(replica.nodeId);
    const isAway = isHealthy(replica) && (node === undefined || !isNodeReady(node));
    return isAway ? { ...replica, failedAt: look.now } : replica;
  });
  return { ...volume, replicas };
}

type Move = { readonly bytes: number };

type Places = {
  readonly moves: readonly Move[];
  readonly targets: DrainPlanVolume['targets'];
  readonly blockers: readonly DrainWait[];
  /** When failed copies are not waited for any more, where its replicas stay on the node until then. */
  readonly until: Date | undefined;
  readonly fleet: FleetView;
};

/** Finds and books a place for each replica to be replaced, so that the next volume finds the rest. */
function placesOf(volume: VolumeOnNode, look: DrainLook, before: FleetView): Places {
  const moved = movedReplicas(volume, look).filter(isHealthy);
  const { full, coming } = remainingCopies(volume, look.lookup);
  const missing = Math.min(moved.length, volume.volume.spec.numberOfReplicas - full - coming);
  const stopped = missing > 0 ? stoppedBy(volume, look) : undefined;
  let fleet = before;
  let { replicas } = volume;
  const moves: Move[] = [];
  const targets: { nodeId: NodeId; diskId: DiskId }[] = [];
  const blockers: DrainWait[] = stopped === undefined ? [] : [stopped];
  for (const replica of stopped === undefined ? moved.slice(0, Math.max(0, missing)) : []) {
    const placement = placementOfMissing({ ...volume, replicas, fleet }, look.now);
    if (placement === undefined) break;
    if (placement.kind === 'refused') {
      blockers.push(waitOf(volume, replica, noPlacementWait(volume.volume.name, placement.refusals)));
      break;
    }
    const { nodeId, diskId } = placement;
    targets.push({ nodeId, diskId });
    moves.push({ bytes: bytesOf(replica) });
    replicas = [...replicas, standIn(replica, { nodeId, diskId }, targets.length)];
    fleet = withBooking(fleet, diskId, volume.volume.spec.sizeBytes);
  }
  if (blockers.length > 0) return { moves, targets, blockers, fleet, until: undefined };
  return { moves, targets, fleet, ...laterPlace({ ...volume, replicas }, look, fleet) };
}

/**
 * Missing copies beside the moving ones are built when failed copies are no longer waited for; until then the volume's replicas on
 * the node stay. It needs a place then.
 */
function laterPlace(
  volume: VolumeOnNode,
  look: DrainLook,
  fleet: FleetView,
): Pick<Places, 'blockers' | 'until'> {
  const none = { blockers: [], until: undefined };
  const replica = movedReplicas(volume, look)[0];
  const { full, coming } = remainingCopies(volume, look.lookup);
  const isEnough = full + coming >= volume.volume.spec.numberOfReplicas;
  if (replica === undefined || look.policy !== 'block-for-eviction' || isEnough) return none;
  const until = awaitedCopies(volume, look.lookup)[0]?.until;
  const placement = placementOfMissing({ ...volume, fleet }, until ?? look.now);
  if (placement?.kind !== 'refused') return { blockers: [], until };
  return {
    blockers: [waitOf(volume, replica, noPlacementWait(volume.volume.name, placement.refusals))],
    until,
  };
}

function stoppedBy(volume: VolumeOnNode, { lookup }: DrainLook): DrainWait | undefined {
  const { name, rebuildHold } = volume.volume;
  if (rebuildHold !== undefined) {
    const message = `copies of volume ${name} are not moved: ${blockText(rebuildHold).waitingFor}`;
    return waitOf(volume, undefined, { reason: 'RebuildsStopped', message, cures: [] });
  }
  const stopped = stoppedBySettings(lookup);
  return stopped === undefined ? undefined : waitOf(volume, undefined, stopped);
}

/** The replacement that is yet to be made: it holds its place, so that the volume's next one goes elsewhere. */
function standIn(replica: Replica, place: { nodeId: NodeId; diskId: DiskId }, number: number): Replica {
  const { volumeId, sizeBytes, createdAt } = replica;
  const id = asId<ReplicaId>(`${replica.id}-${number}`);
  return newReplica({ id, volumeId, sizeBytes, secret: '', createdAt }, place);
}

function planOf(volume: VolumeOnNode, look: DrainLook, found: Places): DrainPlanVolume {
  const isDetached = look.lookup.fleet.settings['detach-manually-attached-volumes-when-cordoned'];
  const isHere = holderOf(volume.volume) === look.node.id;
  // Failed copies are built elsewhere, too, once they are no longer waited for.
  const later = awaitedCopies(volume, look.lookup)[0]?.until ?? look.now;
  const waits = waitsOf(volume, { ...look, now: later }).filter(
    (wait) =>
      !isUnderWay(wait) &&
      wait.reason !== 'RebuildsStopped' &&
      !(isDetached && wait.reason === 'EngineRunning'),
  );
  const blockers = [...waits, ...found.blockers];
  const copies = readyCopies(volume, look);
  const elsewhere = copies.filter(({ nodeId }) => nodeId !== look.node.id).length;
  const afterwards = elsewhere + found.targets.length;
  return {
    volumeId: volume.volume.id,
    volumeName: volume.volume.name,
    outcome: outcomeOf(volume, look, blockers, found),
    engine: isHere ? (isDetached ? 'detached' : 'running') : 'elsewhere',
    targets: found.targets,
    bytesToMove: found.moves.reduce((sum, { bytes }) => sum + bytes, 0),
    copiesNow: copies.length,
    waitsUntil: found.until,
    // A node is not switched off while a volume blocks its drain.
    copiesAtLowest: blockers.length > 0 ? copies.length : Math.min(copies.length, afterwards),
    blockers,
  };
}

function outcomeOf(
  volume: VolumeOnNode,
  look: DrainLook,
  blockers: readonly DrainWait[],
  { moves }: Places,
): DrainOutcome {
  if (replicasOn(volume, look).length === 0) return 'none';
  if (blockers.some(({ reason }) => reason !== 'EngineRunning')) return 'blocked';
  if (movedReplicas(volume, look).length === 0) return 'stays';
  if (look.policy === 'block-for-eviction') return 'moves';
  // Once it is copied, it is not the last healthy one any more: it goes only as one too many.
  const { full, coming } = remainingCopies(volume, look.lookup);
  return full + coming + moves.length >= volume.volume.spec.numberOfReplicas ? 'moves' : 'copied';
}

function readyCopies({ replicas }: VolumeOnNode, { lookup }: DrainLook): Replica[] {
  return replicas.filter((replica) => {
    const node = lookup.nodeOf(replica.nodeId);
    return isHealthy(replica) && replica.intent !== 'remove' && node !== undefined && isNodeReady(node);
  });
}

function countOnNode({ volumes }: NodeVolumes, look: DrainLook): number {
  return volumes.reduce((sum, volume) => sum + replicasOn(volume, look).length, 0);
}
