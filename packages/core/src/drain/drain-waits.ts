/**
 * Reasons for which a drain waits, volume by volume: engines that run on the node, copies that only it holds, replicas to be moved.
 */
import { blockText } from '../admission/waiting.js';
import { awayUntil } from '../lifecycle/lost-places.js';
import { type FleetLookup, remainingCopies, type VolumeOnNode } from '../lifecycle/node-volumes.js';
import { restsUntil } from '../lifecycle/plan-offline-rebuild.js';
import { placementOfMissing } from '../lifecycle/plan-replenishment.js';
import { holdsData, isDrainedAway, protectedPeer } from '../model/drained-copies.js';
import { isNodeReady, type StorageNode } from '../model/node.js';
import {
  type DrainPolicy,
  type DrainWait,
  type DrainWaitReason,
  isEvictingPolicy,
} from '../model/node-drain.js';
import { isActiveRebuild } from '../model/rebuild.js';
import { rebuildsStoppedBy } from '../model/rebuild-limits.js';
import { isHealthy, isPotentiallyReusable, type Replica } from '../model/replica.js';
import { holderOf, isRepairing } from '../model/volume-lifecycle.js';
import { needsOtherNode, nodeForCopies, noNodeForCopies } from '../policy/decide-drain.js';
import type { CandidateRefusal } from '../scheduling/framework/framework.js';
import { placeHeldUntil, returnFacts } from '../scheduling/framework/occupancy.js';
import { summarizeRefusals } from '../scheduling/placement/explain.js';

/** Volumes of a drain for which a place is looked for in one look: each costs a walk through the fleet. */
const PLACEMENTS_MAX = 50;
const MESSAGE_LENGTH_MAX = 500;
const CURES_MAX = 5;

/** Waits that end without a user: work on them is under way, or their time comes. */
const UNDER_WAY: ReadonlySet<DrainWaitReason> = new Set([
  'EngineStopping',
  'CopyAwaited',
  'Rebuilding',
  'Leaving',
]);

export function isUnderWay({ reason }: Pick<DrainWait, 'reason'>): boolean {
  return UNDER_WAY.has(reason);
}

/** One drain's look at the volumes of its node. */
export type DrainLook = {
  readonly node: StorageNode;
  readonly policy: DrainPolicy;
  readonly lookup: FleetLookup;
  readonly now: Date;
  /** There is another node that can take copies, or count for them. Without one a new request for the drain would be refused. */
  readonly hasOtherNode: boolean;
  /** Places that may still be looked for. */
  placementsLeft: number;
};

export function beginLook(node: StorageNode, policy: DrainPolicy, lookup: FleetLookup, now: Date): DrainLook {
  const hasOtherNode = nodeForCopies(node.id, policy, lookup.fleet) !== undefined;
  return { node, policy, lookup, now, hasOtherNode, placementsLeft: PLACEMENTS_MAX };
}

type Said = Pick<DrainWait, 'reason' | 'message' | 'cures'>;

/** Empty: as far as this volume goes the node may be switched off. */
export function waitsOf(volume: VolumeOnNode, look: DrainLook): DrainWait[] {
  if (look.policy === 'always-allow') return [];
  const ofEngine = engineWait(volume, look);
  const ofReplicas = replicasOn(volume, look).flatMap((replica): DrainWait[] => {
    const said = replicaWait(replica, volume, look);
    return said === undefined ? [] : [waitOf(volume, replica, said)];
  });
  return [...(ofEngine === undefined ? [] : [waitOf(volume, undefined, ofEngine)]), ...ofReplicas];
}

export function replicasOn({ replicas }: VolumeOnNode, { node }: Pick<DrainLook, 'node'>): Replica[] {
  return replicas.filter(({ nodeId }) => nodeId === node.id);
}

/** @param replica `undefined`: it is about the volume as a whole */
export function waitOf({ volume }: VolumeOnNode, replica: Replica | undefined, said: Said): DrainWait {
  const message = said.message.slice(0, MESSAGE_LENGTH_MAX);
  return { volumeId: volume.id, volumeName: volume.name, replicaId: replica?.id, ...said, message };
}

function engineWait({ volume }: VolumeOnNode, { node }: DrainLook): Said | undefined {
  if (holderOf(volume) !== node.id) return undefined;
  const { state } = volume.lifecycle;
  if (state === 'detaching' || state === 'deleting' || isRepairing(volume)) {
    const message = `volume ${volume.name} is being detached from node ${node.name}`;
    return { reason: 'EngineStopping', message, cures: [] };
  }
  return {
    reason: 'EngineRunning',
    message: `volume ${volume.name} is attached on node ${node.name}`,
    cures: [
      `detach volume ${volume.name}, and attach it on another node`,
      'set detach-manually-attached-volumes-when-cordoned to true, which detaches all volumes that are attached there',
    ],
  };
}

function replicaWait(replica: Replica, volume: VolumeOnNode, look: DrainLook): Said | undefined {
  const copies = { replicas: volume.replicas, nodeOf: look.lookup.nodeOf };
  if (isEvictingPolicy(look.policy)) {
    if (look.policy !== 'block-for-eviction' && !holdsData(replica)) return undefined;
    return isDrainedAway(replica, copies) ? moveWait(replica, volume, look) : undefined;
  }
  const isStopped = replica.mode === undefined;
  if (look.policy === 'allow-if-replica-is-stopped' && isStopped) return undefined;
  if (!holdsData(replica) || protectedPeer(replica, copies) !== undefined) return undefined;
  return lastCopyWait(volume, look);
}

/** Without an engine that answers nothing can be rebuilt. */
function unreachableEngine({ volume }: VolumeOnNode, { lookup }: DrainLook): Said | undefined {
  const holderId = holderOf(volume);
  const holder = lookup.nodeOf(holderId);
  if (holderId === undefined || (holder !== undefined && isNodeReady(holder))) return undefined;
  const name = holder?.name ?? holderId;
  return {
    reason: 'EngineUnreachable',
    message: `copies of volume ${volume.name} can not be rebuilt: its engine is on node ${name}, which does not answer`,
    cures: ['detach it with force, then attach it on another node', `start the agent on ${name}`],
  };
}

function lastCopyWait(of: VolumeOnNode, look: DrainLook): Said {
  const { volume, rebuilds } = of;
  const { node } = look;
  const unreachable = unreachableEngine(of, look);
  if (unreachable !== undefined) return unreachable;
  const stopped = rebuildsStopped(of, look);
  if (rebuilds.some(isActiveRebuild) && stopped !== undefined) return stopped;
  if (rebuilds.some(isActiveRebuild)) {
    const message = `another copy of volume ${volume.name} ${rebuiltWords(of)}: so far only node ${node.name} holds a healthy one`;
    return { reason: 'Rebuilding', message, cures: [] };
  }
  const copies = `no other node that is ready and stays holds a healthy copy of volume ${volume.name}`;
  if (!look.hasOtherNode && needsOtherNode(look.policy)) {
    const { why, cures } = noNodeForCopies(node.name, look.policy);
    return { reason: 'LastCopy', message: `${copies}: ${why}`, cures };
  }
  if (volume.lifecycle.state === 'attached' && look.placementsLeft > 0) {
    look.placementsLeft -= 1;
    const isMissing = remainingCopies(of, look.lookup).full < volume.spec.numberOfReplicas;
    const placement = placementOfMissing({ ...of, fleet: look.lookup.fleet }, look.now);
    if (isMissing && placement === undefined) return copyAwaited(of, look);
    if (placement?.kind === 'placed') return rebuilding(volume.name, 'is about to be built');
  }
  return {
    reason: 'LastCopy',
    message: copies,
    cures: [
      'start the agents of the nodes that hold other copies, so that they are brought up to date',
      'drain with policy block-for-eviction-if-contains-last-replica, which moves such copies first',
      'drain with policy always-allow: the volume can not be used while the node is off',
    ],
  };
}

function moveWait(replica: Replica, volume: VolumeOnNode, look: DrainLook): Said {
  const { name, spec, rebuildHold } = volume.volume;
  const { full, coming } = remainingCopies(volume, look.lookup);
  if (full >= spec.numberOfReplicas || replica.intent === 'remove') {
    return {
      reason: 'Leaving',
      message: `the replica of volume ${name} has been replaced and is removed`,
      cures: [],
    };
  }
  if (rebuildHold !== undefined) {
    const message = `copies of volume ${name} are not moved: ${blockText(rebuildHold).waitingFor}`;
    return { reason: 'RebuildsStopped', message, cures: [] };
  }
  const unreachable = unreachableEngine(volume, look);
  if (unreachable !== undefined) return unreachable;
  const stopped = rebuildsStopped(volume, look);
  if (stopped !== undefined) return stopped;
  if (coming > 0 || volume.rebuilds.some(isActiveRebuild)) return rebuilding(name, rebuiltWords(volume));
  if (!look.hasOtherNode) {
    const { why, cures } = noNodeForCopies(look.node.name, look.policy);
    return { reason: 'NoPlace', message: `a replica of volume ${name} has no other place: ${why}`, cures };
  }
  if (look.placementsLeft === 0) return rebuilding(name, 'is yet to be placed');
  look.placementsLeft -= 1;
  if (awaitsNode(volume, look)) return copyAwaited(volume, look);
  const placement = placementOfMissing({ ...volume, fleet: look.lookup.fleet }, look.now);
  if (placement === undefined) return copyAwaited(volume, look);
  if (placement.kind === 'refused') return noPlacementWait(name, placement.refusals);
  const rested = volume.volume.lifecycle.state === 'detached' ? restsUntil(volume.volume) : undefined;
  return rebuilding(
    name,
    rested !== undefined && rested > look.now
      ? `is built from ${timeText(rested)} on: the last attempt came to nothing`
      : 'is about to be built',
  );
}

/** A rebuild in the queue has its own reason: a quota, for instance, only its owner raises. */
function rebuiltWords({ rebuilds }: Pick<VolumeOnNode, 'rebuilds'>): string {
  const queued = rebuilds.find(
    ({ state, waitingReason }) => state === 'queued' && waitingReason !== undefined,
  );
  return queued === undefined ? 'is being rebuilt' : `waits to be rebuilt (${queued.waitingFor})`;
}

function timeText(time: Date): string {
  return `${time.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** A detached volume is not attached to be moved while a node that holds one of its copies is down for a moment. */
function awaitsNode({ volume, replicas }: VolumeOnNode, { lookup, now }: DrainLook): boolean {
  if (volume.lifecycle.state !== 'detached') return false;
  return replicas.some((replica) => awayUntil(replica, { replicas, fleet: lookup.fleet }) > now);
}

/** Neither a copy that is yet to be placed nor one whose rebuild is queued comes any further; a rebuild that runs does. */
function rebuildsStopped(volume: VolumeOnNode, { lookup }: DrainLook): Said | undefined {
  if (volume.rebuilds.some(({ state }) => state === 'running')) return undefined;
  return stoppedBySettings(lookup) ?? stoppedByQuota(volume);
}

/** A quota of none of the volume's organization or project: admission has written it on the rebuild that it refused a place. */
function stoppedByQuota({ volume, rebuilds }: VolumeOnNode): Said | undefined {
  const refused = rebuilds.find(
    ({ state, waitingReason }) => state === 'queued' && waitingReason === 'QuotaZero',
  );
  if (refused === undefined) return undefined;
  return {
    reason: 'RebuildsStopped',
    message: `another copy of volume ${volume.name} waits to be rebuilt: ${refused.waitingFor}`,
    cures: ['raise runningRebuilds, of the quota or the grant that allows none'],
  };
}

/** A limit of the cluster that lets no rebuild start. */
export function stoppedBySettings({ fleet }: FleetLookup): Said | undefined {
  const stop = rebuildsStoppedBy(fleet.settings);
  if (stop === undefined) return undefined;
  return { reason: 'RebuildsStopped', message: stop.message, cures: stop.cures };
}

/** As long as a failed copy may return no further one is built, and the volume keeps its copies. */
function copyAwaited(volume: VolumeOnNode, { lookup }: DrainLook): Said {
  const { name } = volume.volume;
  const awaited = awaitedCopies(volume, lookup)[0];
  const where = lookup.nodeOf(awaited?.replica.nodeId)?.name ?? 'another node';
  const until = awaited === undefined ? 'then' : timeText(awaited.until);
  const node = lookup.nodeOf(awaited?.replica.nodeId);
  if (awaited !== undefined && isHealthy(awaited.replica) && node !== undefined && isNodeReady(node)) {
    return {
      reason: 'CopyAwaited',
      message: `volume ${name} is detached, and not attached to be moved while node ${where} is in maintenance, until ${until}`,
      cures: [`end the maintenance of node ${where}`],
    };
  }
  return {
    reason: 'CopyAwaited',
    message: `the copy of volume ${name} on node ${where} may come back: no further one is built until ${until}`,
    cures: [`start the agent on ${where}`, 'lower replica-replenishment-wait-interval'],
  };
}

/** Copies that failed, or whose nodes are down; the one with the longest wait first. */
export function awaitedCopies(
  { volume, replicas }: VolumeOnNode,
  { fleet, nodeOf }: FleetLookup,
): { replica: Replica; until: Date }[] {
  const facts = returnFacts(replicas, fleet);
  return replicas
    .filter((replica) => {
      const node = nodeOf(replica.nodeId);
      const isAway = isHealthy(replica) && node !== undefined && !isNodeReady(node);
      const isInWindow =
        volume.lifecycle.state === 'detached' && awayUntil(replica, { replicas, fleet }).getTime() > 0;
      return isAway || isInWindow || isPotentiallyReusable(replica);
    })
    .map((replica) => ({
      replica,
      until: isHealthy(replica)
        ? awayUntil(replica, { replicas, fleet })
        : (placeHeldUntil(replica, facts) ?? new Date(0)),
    }))
    .sort((a, b) => b.until.getTime() - a.until.getTime());
}

function rebuilding(name: string, does: string): Said {
  return {
    reason: 'Rebuilding',
    message: `another copy of volume ${name} ${does}`,
    cures: [],
  };
}

/** The smallest of what the rules name as cures; those that have been tried stand with the volume. */
export function noPlacementWait(name: string, refusals: readonly CandidateRefusal[]): Said {
  const cures = [...new Set(refusals.map(({ rejection }) => rejection.cure))].slice(0, CURES_MAX);
  const message = `a replica of volume ${name} has no other place: ${summarizeRefusals(refusals)}`;
  return { reason: 'NoPlace', message, cures };
}

/** Replicas of the volume that the drain moves off its node. */
export function movedReplicas(volume: VolumeOnNode, look: DrainLook): Replica[] {
  const copies = { replicas: volume.replicas, nodeOf: look.lookup.nodeOf };
  return replicasOn(volume, look).filter(
    (replica) =>
      isDrainedAway(replica, copies) && (look.policy === 'block-for-eviction' || holdsData(replica)),
  );
}

/** Bytes to copy for a replica that moves: one that holds no full copy is only removed. */
export function bytesOf(replica: Replica): number {
  return isHealthy(replica) ? replica.writtenBytes : 0;
}
