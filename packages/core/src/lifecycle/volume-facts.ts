/** Predicates and look-ups on a volume's view that several planners share. */
import type { ClusterEvent, EventSubject } from '../model/event.js';
import type { NodeId } from '../model/ids.js';
import type { StorageNode } from '../model/node.js';
import { isActiveRebuild, type Rebuild } from '../model/rebuild.js';
import { isHealthy, type Replica } from '../model/replica.js';
import { isNodeReady } from '../policy/node-conditions.js';
import { effectiveValue } from '../policy/volume-settings.js';
import { isEvicting } from '../scheduling/occupancy.js';
import type { FleetView, VolumeView } from './views.js';

export function nodeById(fleet: FleetView, nodeId: NodeId | undefined): StorageNode | undefined {
  return nodeId === undefined ? undefined : fleet.nodes.find(({ id }) => id === nodeId);
}

export function nodeName(fleet: FleetView, nodeId: NodeId | undefined): string {
  return nodeById(fleet, nodeId)?.name ?? nodeId ?? 'no node';
}

export function isOnReadyNode(replica: Replica, fleet: FleetView): boolean {
  const node = nodeById(fleet, replica.nodeId);
  return node !== undefined && isNodeReady(node);
}

export function activeRebuild({ rebuilds }: VolumeView): Rebuild | undefined {
  return rebuilds.find(isActiveRebuild);
}

/** Full copies that are to stay: what counts towards the wanted number. */
export function lastingCopies({ replicas, fleet }: VolumeView): Replica[] {
  return replicas.filter(
    (replica) => isHealthy(replica) && replica.intent !== 'remove' && !isEvicting(replica, fleet),
  );
}

/** Is a replica without a place, or a copy missing that may be built as the volume is? */
export function lacksCopies(view: VolumeView): boolean {
  const { volume, replicas, fleet } = view;
  if (replicas.some(({ diskId, intent }) => diskId === undefined && intent === 'keep')) return true;
  if (lastingCopies(view).length >= volume.spec.numberOfReplicas) return false;
  const isRebuiltOffline = effectiveValue(volume.spec, fleet.settings, 'offlineRebuilding') === 'enabled';
  return volume.state !== 'detached' || isRebuiltOffline;
}

/** Placed, not failed and not yet a full copy: waits for its first or next rebuild. */
export function isAwaitingRebuild(replica: Replica): boolean {
  return (
    replica.diskId !== undefined &&
    replica.failedAt === undefined &&
    replica.healthyAt === undefined &&
    replica.intent === 'keep'
  );
}

/** Is there an engine that can be asked for changes of the layers? */
export function isServing({ volume, engine }: VolumeView): boolean {
  return (
    volume.state === 'attached' && engine?.report.state === 'running' && engine.report.epoch === volume.epoch
  );
}

export function volumeEvent(
  { volume }: VolumeView,
  now: Date,
  event: { type: string; severity: ClusterEvent['severity']; message: string; subject?: EventSubject },
): ClusterEvent {
  return {
    clusterId: volume.clusterId,
    type: event.type,
    severity: event.severity,
    subject: event.subject ?? { kind: 'volume', id: volume.id },
    volumeId: volume.id,
    message: event.message,
    at: now,
  };
}
