/**
 * Occupancy: the failure domains that the volume's other replicas already use.
 *
 * A replica holds its place while it lives or may come back: one that failed keeps it until a new replica may be built
 * instead, else its own return would find the place taken and two replicas in one zone. A replica that is to be
 * replaced (evict) holds its place too, but its replacement may share it, so such places are remembered apart.
 */

import type { DiskId, NodeId, ReplicaId } from '../../model/ids.js';
import {
  isNodeReady,
  type NodeMaintenance,
  type StorageNode,
  type ZoneKey,
  zoneKey,
} from '../../model/node.js';
import { isHealthy, isPotentiallyReusable, type Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { nodeById } from '../../model/volume-facts.js';
import type { PlacementCycle, SchedulingProfile } from './framework.js';

export type Occupancy = {
  /** Occupied nodes, with a replica that occupies each. */
  readonly nodes: ReadonlyMap<NodeId, ReplicaId>;
  readonly zones: ReadonlyMap<ZoneKey, ReplicaId>;
  /** Nodes and zones where every occupant is being evicted. */
  readonly leavingNodes: ReadonlySet<NodeId>;
  readonly leavingZones: ReadonlySet<ZoneKey>;
  /** How many replicas of the volume each disk holds. */
  readonly replicasByDisk: ReadonlyMap<DiskId, number>;
};

/** May the failed replica be brought up to date again, as the profile sees it? */
export function mayReturn(replica: Replica, profile: SchedulingProfile): boolean {
  const isIgnoringDeletion = profile.deletedReplicasMayReturn && replica.intent === 'remove';
  return isPotentiallyReusable(isIgnoringDeletion ? { ...replica, intent: 'keep' } : replica);
}

/** Names an occupant in messages. */
export function replicaOn(replicaId: ReplicaId | undefined): string {
  return replicaId === undefined ? 'a replica' : `replica ${replicaId}`;
}

/**
 * @param candidateNodes the nodes that passed the node filters
 */
export function occupancyOf(cycle: PlacementCycle, candidateNodes: readonly StorageNode[]): Occupancy {
  const nodes = new Map<NodeId, ReplicaId>();
  const zones = new Map<ZoneKey, ReplicaId>();
  const stayingNodes = new Set<NodeId>();
  const stayingZones = new Set<ZoneKey>();
  const candidateIds = new Set(candidateNodes.map(({ id }) => id));

  for (const replica of cycle.request.replicas) {
    const node = replica.nodeId === undefined ? undefined : cycle.nodesById.get(replica.nodeId);
    if (node === undefined || !holdsItsPlaceIn(cycle, replica)) continue;
    if (cycle.profile.occupants === 'on-candidate-nodes' && !candidateIds.has(node.id)) continue;
    nodes.set(node.id, replica.id);
    zones.set(zoneKey(node), replica.id);
    if (cycle.profile.isLeaving(replica, cycle)) continue;
    stayingNodes.add(node.id);
    stayingZones.add(zoneKey(node));
  }
  return {
    nodes,
    zones,
    leavingNodes: new Set([...nodes.keys()].filter((id) => !stayingNodes.has(id))),
    leavingZones: new Set([...zones.keys()].filter((zone) => !stayingZones.has(zone))),
    replicasByDisk: countByDisk(cycle.request.replicas, cycle.profile),
  };
}

/** What says how long a volume's failed replicas are waited for. */
export type ReturnFacts = {
  readonly waitSeconds: number;
  /** All of the volume's. */
  readonly replicas: readonly Replica[];
  nodeOf(id: NodeId | undefined): StorageNode | undefined;
};

export function returnFacts(replicas: readonly Replica[], fleet: FleetView): ReturnFacts {
  const waitSeconds = fleet.settings['replica-replenishment-wait-interval'];
  return { waitSeconds, replicas, nodeOf: (id) => nodeById(fleet, id) };
}

/**
 * When a failed replica stops holding its place: from then on a new replica may be built in its stead.
 *
 * `undefined` for a replica that holds its place for ever (it is not failed), the past for one that can't come back.
 */
export function placeHeldUntil(replica: Replica, facts: ReturnFacts): Date | undefined {
  if (replica.failedAt === undefined) return undefined;
  if (!isPotentiallyReusable(replica)) return replica.failedAt;
  // Its node is gone for good.
  if (facts.nodeOf(replica.nodeId)?.forget !== undefined) return replica.failedAt;
  const usualMs = replica.failedAt.getTime() + facts.waitSeconds * 1000;
  const windowMs = windowOfReturn(replica, facts)?.until.getTime() ?? 0;
  return new Date(Math.max(usualMs, windowMs));
}

/**
 * The maintenance window in which a failed replica is waited for. `undefined` also where the volume is down to its last
 * copy: that one could fail meanwhile, so its replacement waits no longer than outside a window.
 */
export function windowOfReturn(
  { nodeId }: Replica,
  { replicas, nodeOf }: ReturnFacts,
): NodeMaintenance | undefined {
  const window = nodeOf(nodeId)?.maintenance;
  if (window === undefined) return undefined;
  const copies = replicas.filter((replica) => {
    const node = nodeOf(replica.nodeId);
    return isHealthy(replica) && node !== undefined && isNodeReady(node);
  });
  return copies.length > 1 ? window : undefined;
}

/** Does the replica occupy its node and zone, each replica by its own clock? */
export function holdsItsPlace(replica: Replica, facts: ReturnFacts, now: Date): boolean {
  if (replica.intent === 'remove') return false;
  return isStillHeld(placeHeldUntil(replica, facts), now);
}

function holdsItsPlaceIn(cycle: PlacementCycle, replica: Replica): boolean {
  if (replica.intent === 'remove') return false;
  return isStillHeld(cycle.profile.placeHeldUntil(replica, cycle), cycle.now);
}

function isStillHeld(until: Date | undefined, now: Date): boolean {
  return until === undefined || until.getTime() > now.getTime();
}

/** A disk's rule is stricter than a node's: a failed replica that may be reused still has its data there. */
export function countsOnDisk(replica: Replica, profile: SchedulingProfile): boolean {
  return replica.failedAt === undefined || mayReturn(replica, profile);
}

function countByDisk(replicas: readonly Replica[], profile: SchedulingProfile): Map<DiskId, number> {
  const counts = new Map<DiskId, number>();
  for (const replica of replicas) {
    if (replica.diskId === undefined || !countsOnDisk(replica, profile)) continue;
    counts.set(replica.diskId, (counts.get(replica.diskId) ?? 0) + 1);
  }
  return counts;
}
