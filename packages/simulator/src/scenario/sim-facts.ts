/** Facts of a simulated cluster, as the API would show them: names for ids, and volumes as users see them. */
import type { FleetView, VolumeView } from '@holdfast/control/ports/store.js';
import { isWorkersOwn, shownConditions, shownState } from '@holdfast/core/lifecycle/shown-volume.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import { isEvictingPolicy } from '@holdfast/core/model/node-drain.js';
import { isHealthy, type Replica, replicaState } from '@holdfast/core/model/replica.js';
import { endpointOf, holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { layerTaskOf } from '@holdfast/core/model/volume-task.js';
import { decideSurplus } from '@holdfast/core/policy/decide-surplus.js';
import type {
  DiskFacts,
  EventFacts,
  NodeFacts,
  RebuildFacts,
  ReplicaFacts,
  VolumeFacts,
} from '@holdfast/scenario/facts.js';

/** Names of a fleet's nodes and disks by their ids. */
export type FleetNames = {
  node(id: string | undefined): string | null;
  disk(id: string | undefined): string | null;
};

export function namesOf({ nodes, disks }: FleetView): FleetNames {
  const nodeNames = new Map<string, string>(nodes.map(({ id, name }) => [id, name]));
  const diskNames = new Map<string, string>(
    disks.map(({ id, nodeId, name }) => [id, `${nodeNames.get(nodeId) ?? nodeId}/${name}`]),
  );
  return {
    node: (id) => nodeNames.get(id ?? '') ?? null,
    disk: (id) => diskNames.get(id ?? '') ?? null,
  };
}

export function nodeFacts({ nodes }: FleetView): NodeFacts[] {
  const byName = [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1));
  return byName.map((node) => ({
    name: node.name,
    conditions: node.conditions,
    cordoned: node.cordoned,
    evictionRequested: node.evictionRequested,
    isInMaintenance: node.maintenance !== undefined,
    isAutoEvicting: node.drain !== undefined && isEvictingPolicy(node.drain.policy),
    drain: node.drain === undefined ? null : (node.drainStatus?.state ?? 'draining'),
  }));
}

export function diskFacts({ disks }: FleetView, names: FleetNames): DiskFacts[] {
  return disks.map(({ id, conditions }) => ({ name: names.disk(id) ?? id, conditions }));
}

export function volumeFacts(view: VolumeView, names: FleetNames, missingWrites: number): VolumeFacts {
  const { volume, replicas, snapshots, rebuilds, fleet } = view;
  const zones = new Map<string | undefined, string | undefined>(
    fleet.nodes.map(({ id, zone }) => [id, zone]),
  );
  const fullCopies = replicas.filter(isHealthy).length;
  return {
    name: volume.name,
    state: shownState(volume),
    robustness: volume.robustness,
    attachedTo: isWorkersOwn(volume) ? null : names.node(holderOf(volume)),
    hasEndpoint: !isWorkersOwn(volume) && endpointOf(volume) !== undefined,
    sizeBytes: volume.spec.sizeBytes,
    numberOfReplicas: volume.spec.numberOfReplicas,
    attention: volume.attention?.code ?? null,
    task: layerTaskOf(volume)?.kind ?? null,
    conditions: shownConditions(volume),
    replicas: replicas.map((replica) => replicaFacts(replica, names, zones.get(replica.nodeId))),
    snapshots: snapshots.map(({ name, origin, state }) => ({ name, origin, state })),
    rebuilds: rebuilds.map((rebuild): RebuildFacts => {
      const { id, targetReplicaId, targetNodeId, sourceNodeIds, waitingReason } = rebuild;
      const state = rebuild.preemptedAt === undefined ? rebuild.state : 'queued';
      return {
        id,
        volume: volume.name,
        targetReplicaId,
        targetNode: names.node(targetNodeId) ?? targetNodeId,
        sourceNodes: sourceNodeIds.map((node) => names.node(node) ?? node),
        state,
        methods: rebuild.snapshots.map(({ method }) => method),
        waitingReason: waitingReason ?? null,
      };
    }),
    namedVictim: fullCopies < 2 ? null : (decideSurplus(view, fullCopies - 1)?.replica.id ?? null),
    missingWrites,
  };
}

function replicaFacts(replica: Replica, names: FleetNames, zone: string | undefined): ReplicaFacts {
  return {
    id: replica.id,
    node: names.node(replica.nodeId),
    disk: names.disk(replica.diskId),
    zone: zone ?? null,
    mode: replica.mode ?? null,
    state: replicaState(replica),
    intent: replica.intent,
    isHealthy: isHealthy(replica),
  };
}

/** @param from the place of the first in the list of all events, which is what names them */
export function eventFacts(
  events: readonly ClusterEvent[],
  from: number,
  volumeName: (id: string) => string | null,
): EventFacts[] {
  return events.map(({ type, volumeId, message }, index) => ({
    id: String(from + index),
    type,
    volume: volumeId === undefined ? null : volumeName(volumeId),
    message,
  }));
}
