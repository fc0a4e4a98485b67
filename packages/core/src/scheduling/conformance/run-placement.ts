/** Runs the vectors that place replicas: one, all of a volume, or several volumes one after another. */
import { refusalByGuards } from '../longhorn/guards.js';
import { LONGHORN_PROFILE } from '../longhorn/longhorn-profile.js';
import { isRefusalOfNodes, longhornReasons } from '../longhorn/longhorn-reasons.js';
import { placeReplica } from '../placement/place-replica.js';
import { type Answer, type Comparison, compareAnswer, summarize } from './answer.js';
import { type ConditionSource, toFleet } from './to-fleet.js';
import { degradedSince, toReplica, toRequest, type VectorPlacement } from './to-request.js';
import type { VectorAnswer, VectorNode, VectorOf, VectorReplica, VectorVolume } from './vector.js';

export function runScheduleReplica(vector: VectorOf<'schedule-replica'>): Comparison {
  const { volume, settings, nodes, existingReplicas, replicaToSchedule } = vector;
  const placement: VectorPlacement = {
    volume,
    settings,
    nodes,
    replicas: [...existingReplicas, replicaToSchedule],
    cloneSourceReplicas: vector.linkedCloneSourceReplicas,
  };
  const answer = schedule(placement, replicaToSchedule, new Date(vector.now), 'recorded');
  return compareAnswer(answer, vector.expected);
}

export function runScheduleVolume(vector: VectorOf<'schedule-volume'>): Comparison {
  const { volume, settings, nodes } = vector;
  const comparisons: Comparison[] = [];
  let replicas: readonly VectorReplica[] = vector.existingReplicas;
  for (const step of vector.steps) {
    const fresh = freshReplica(step.replica, volume, step.preassignedNodeId);
    const placement: VectorPlacement = {
      volume,
      settings,
      nodes,
      replicas: [...replicas, fresh],
      cloneSourceReplicas: vector.linkedCloneSourceReplicas,
    };
    const answer = schedule(placement, fresh, new Date(vector.now), 'recorded');
    comparisons.push(compareAnswer(answer, step.expected));
    replicas = [...replicas, placedAsListed(fresh, step.expected)];
  }
  return summarize(comparisons);
}

/** Each volume sees what the ones before it booked, and conditions that were worked out anew from that. */
export function runWorkload(vector: VectorOf<'workload'>): Comparison {
  const { settings } = vector;
  const comparisons: Comparison[] = [];
  let nodes: readonly VectorNode[] = vector.nodes;
  for (const volume of vector.volumes) {
    let replicas: readonly VectorReplica[] = [];
    for (const step of vector.steps.filter((candidate) => candidate.volume === volume.name)) {
      const fresh = freshReplica(step.replica, volume, '');
      const placement: VectorPlacement = {
        volume,
        settings,
        nodes,
        replicas: [...replicas, fresh],
        cloneSourceReplicas: [],
      };
      const answer = schedule(placement, fresh, new Date(vector.now), 'derived');
      comparisons.push(compareAnswer(answer, step.expected));
      replicas = [...replicas, placedAsListed(fresh, step.expected)];
    }
    nodes = withBookings(nodes, replicas);
  }
  return summarize(comparisons);
}

function schedule(
  placement: VectorPlacement,
  replica: VectorReplica,
  now: Date,
  conditions: ConditionSource,
): Answer {
  const guarded = refusalByGuards(toReplica(replica));
  if (guarded !== undefined) return { kind: 'refused', reasons: [guarded] };

  const request = toRequest(placement, replica);
  const { nodes, settings, volume } = placement;
  const fleet = toFleet({ nodes, settings, conditions }, volume.dataEngine);
  const result = placeReplica(request, fleet, now, LONGHORN_PROFILE);
  // Longhorn reads the time only once it has nodes to choose from.
  const looksAtDisks = result.kind === 'placed' || !isRefusalOfNodes(result.refusals);
  if (looksAtDisks && degradedSince(volume) === 'unreadable') {
    return { kind: 'refused', reasons: ['longhorn client operation failed'] };
  }
  if (result.kind === 'refused') {
    return { kind: 'refused', reasons: longhornReasons(request, result.refusals) };
  }
  return { ...result, kind: 'placed' };
}

function freshReplica(name: string, volume: VectorVolume, nodeId: string): VectorReplica {
  return {
    name,
    nodeId,
    diskId: '',
    size: volume.size,
    healthyAt: '',
    failedAt: '',
    active: true,
    evictionRequested: false,
    deleting: false,
    rebuildRetryCount: 0,
    hardNodeAffinity: '',
    linkedCloneSrcReplicaName: '',
    volumeName: volume.name,
  };
}

/** The listed answer stands, whichever of the right ones we gave: the next step was recorded after that one. */
function placedAsListed(replica: VectorReplica, expected: VectorAnswer): VectorReplica {
  if ('unschedulable' in expected) return replica;
  return { ...replica, nodeId: expected.nodeId, diskId: expected.diskId };
}

function withBookings(nodes: readonly VectorNode[], replicas: readonly VectorReplica[]): VectorNode[] {
  return nodes.map((node) => ({
    ...node,
    disks: node.disks.map((disk) => {
      const booked = replicas.filter(({ diskId }) => diskId === disk.id);
      const sizes = Object.fromEntries(booked.map(({ name, size }) => [name, size]));
      return {
        ...disk,
        storageScheduled: disk.storageScheduled + booked.reduce((sum, { size }) => sum + size, 0),
        scheduledReplicas: { ...disk.scheduledReplicas, ...sizes },
      };
    }),
  }));
}
