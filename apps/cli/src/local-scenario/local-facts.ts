/** Facts of the local stack's cluster: the API's answers with a scenario's names for ids. */
import type {
  DiskFacts,
  EventFacts,
  Facts,
  NodeFacts,
  RebuildFacts,
  VolumeFacts,
} from '@holdfast/scenario/facts.js';
import { fieldOf } from '../json.js';
import type { Node, Rebuild, Volume } from '../types.js';
import { asked, type LocalCluster } from './local-cluster.js';

/** Events per read: more don't happen between two. */
const EVENTS_MAX = 100;

export async function localFacts(
  cluster: LocalCluster,
  missingWrites: (volume: Volume) => Promise<number>,
): Promise<Facts> {
  const [, volumes, rebuilds, events] = await Promise.all([
    cluster.refresh(),
    cluster.volumes(),
    cluster.rebuilds(),
    eventsOf(cluster),
  ]);
  const own = new Set(cluster.volumeIds.values());
  const facts = volumes
    .filter(({ id }) => own.has(id))
    .map((volume) =>
      volumeFacts(
        cluster,
        volume,
        rebuilds.filter(({ volumeId }) => volumeId === volume.id),
        missingWrites,
      ),
    );
  return {
    volumes: await Promise.all(facts),
    nodes: nodeFacts(cluster),
    disks: cluster.disks.map(
      ({ id, conditions }): DiskFacts => ({ name: cluster.diskNameOf(id) ?? id, conditions }),
    ),
    events,
  };
}

function nodeFacts(cluster: LocalCluster): NodeFacts[] {
  return cluster.nodes.flatMap((node): NodeFacts[] => {
    const name = cluster.nodeNameOf(node.id);
    if (name === null) return [];
    return [
      {
        name,
        conditions: node.conditions,
        cordoned: node.cordoned,
        evictionRequested: node.evictionRequested,
        isInMaintenance: node.maintenance !== null,
        isAutoEvicting: fieldOf(node, 'autoEvicting') === true,
        drain: drainOf(node),
      },
    ];
  });
}

function drainOf(node: Node): string | null {
  const state = fieldOf(fieldOf(node, 'drain'), 'state');
  return typeof state === 'string' ? state : null;
}

async function volumeFacts(
  cluster: LocalCluster,
  volume: Volume,
  rebuilds: readonly Rebuild[],
  missingWrites: (volume: Volume) => Promise<number>,
): Promise<VolumeFacts> {
  const snapshots = await cluster.snapshots(volume.id);
  return {
    name: volume.name,
    state: volume.state,
    robustness: volume.robustness,
    attachedTo: cluster.nodeNameOf(volume.attachedNodeId),
    hasEndpoint: volume.endpoint !== null,
    sizeBytes: volume.size,
    numberOfReplicas: volume.numberOfReplicas,
    attention: volume.attention?.code ?? null,
    task: volume.task?.kind ?? null,
    conditions: volume.conditions,
    replicas: volume.replicas.map((replica) => ({
      id: replica.id,
      node: cluster.nodeNameOf(replica.nodeId),
      disk: cluster.diskNameOf(replica.diskId),
      zone: replica.zone,
      mode: replica.mode,
      state: replica.state,
      intent: replica.intent,
      isHealthy: replica.healthyAt !== null && replica.failedAt === null,
    })),
    snapshots: snapshots.map(({ name, origin, state }) => ({ name, origin, state })),
    rebuilds: rebuilds.map((rebuild) => rebuildFacts(cluster, volume.name, rebuild)),
    namedVictim: null,
    missingWrites: await missingWrites(volume),
  };
}

function rebuildFacts(cluster: LocalCluster, volume: string, rebuild: Rebuild): RebuildFacts {
  return {
    id: rebuild.id,
    volume,
    targetReplicaId: rebuild.targetReplicaId,
    targetNode: cluster.nodeNameOf(rebuild.targetNodeId) ?? rebuild.targetNodeId,
    sourceNodes: rebuild.sourceNodeIds.map((id) => cluster.nodeNameOf(id) ?? id),
    state: rebuild.state,
    methods: rebuild.snapshots.map(({ method }) => method),
    waitingReason: rebuild.waitingReason,
  };
}

/** The newest last, as facts have them. */
async function eventsOf(cluster: LocalCluster): Promise<EventFacts[]> {
  const params = { path: { clusterId: cluster.clusterId }, query: { limit: EVENTS_MAX } };
  const { items } = await asked(cluster.api.GET('/clusters/{clusterId}/events', { params }));
  const names = new Map([...cluster.volumeIds].map(([name, id]) => [id, name]));
  return items
    .map(({ id, type, volumeId, message }) => ({
      id,
      type,
      volume: volumeId === null ? null : (names.get(volumeId) ?? null),
      message,
    }))
    .reverse();
}
