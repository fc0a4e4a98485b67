/** Turns a vector's cluster into a fleet view. Names are ids. */

import type { Condition } from '../../model/condition.js';
import { asId, type ClusterId, type DiskId, type NodeId } from '../../model/ids.js';
import type { DataEngine, StorageDisk, StorageNode } from '../../model/node.js';
import type { ClusterSettings } from '../../model/setting.js';
import type { FleetView } from '../../model/views.js';
import { diskSchedulableCondition } from '../../policy/disk-conditions.js';
import { nodeSchedulableCondition } from '../../policy/node-conditions.js';
import { effectiveSettings } from '../../settings/effective.js';
import { assertFleetIdentities } from '../placement/fleet-consistency.js';
import type { VectorDisk, VectorNode, VectorSettings } from './vector.js';

/** Nothing here depends on when a condition changed. */
const LONG_AGO = new Date(0);
const CLUSTER_ID = asId<ClusterId>('vector');

export type ConditionSource = 'recorded' | 'derived';

export type VectorCluster = {
  readonly nodes: readonly VectorNode[];
  readonly settings: VectorSettings;
  /** Conditions as the vector has them, or worked out anew from the facts. */
  readonly conditions: ConditionSource;
};

/**
 * @param engine decides which node counts as having one: v1 needs the engine image too
 * @throws StorageFault `fleet.inconsistent` for a cluster that no Longhorn could have
 */
export function toFleet(cluster: VectorCluster, engine: DataEngine): FleetView {
  const settings = toSettings(cluster.settings);
  const nodes = cluster.nodes.map((node) => toNode(node, engine, cluster.conditions, settings));
  const disks = cluster.nodes.flatMap((node) =>
    node.disks
      // A disk that only the status knows takes part in nothing.
      .filter(({ missingFromSpec }) => !missingFromSpec)
      .map((disk) => toDisk(disk, node, cluster.conditions, settings)),
  );
  const fleet: FleetView = { clusterId: CLUSTER_ID, settings, settingsVersion: 1, nodes, disks };
  assertFleetIdentities(fleet);
  return fleet;
}

/** Values are taken as they are, past our own bounds too: Longhorn's are not ours to judge. */
function toSettings(given: VectorSettings): ClusterSettings {
  return {
    ...effectiveSettings({}),
    'replica-soft-anti-affinity': given.replicaSoftAntiAffinity,
    'replica-zone-soft-anti-affinity': given.replicaZoneSoftAntiAffinity,
    'replica-disk-soft-anti-affinity': given.replicaDiskSoftAntiAffinity,
    'allow-empty-node-selector-volume': given.allowEmptyNodeSelectorVolume,
    'allow-empty-disk-selector-volume': given.allowEmptyDiskSelectorVolume,
    'disable-scheduling-on-cordoned-node': given.disableSchedulingOnCordonedNode,
    'storage-over-provisioning-percentage': given.storageOverProvisioningPercentage,
    'storage-minimal-available-percentage': given.storageMinimalAvailablePercentage,
    'replica-auto-balance-disk-pressure-percentage': given.replicaAutoBalanceDiskPressurePercentage,
    'replica-replenishment-wait-interval': given.replicaReplenishmentWaitInterval,
  };
}

function toNode(
  node: VectorNode,
  engine: DataEngine,
  conditions: ConditionSource,
  settings: ClusterSettings,
): StorageNode {
  const isDisabledForEngine = engine === 'v2' && node.v2DataEngineDisabled;
  const runsEngine = node.instanceManagerState === 'running';
  const hasImage = engine === 'v2' || node.engineImageReady;
  const schedulable =
    conditions === 'derived'
      ? {
          ...nodeSchedulableCondition({ cordoned: node.cordoned, maintenance: undefined }, settings),
          lastTransitionAt: LONG_AGO,
        }
      : condition('Schedulable', node.schedulable);
  return {
    id: asId<NodeId>(node.name),
    clusterId: CLUSTER_ID,
    name: node.name,
    zone: node.zone === '' ? undefined : node.zone,
    region: node.region === '' ? undefined : node.region,
    tags: node.tags,
    // Longhorn judges a node that is being deleted, or is closed to the engine, where it judges this switch.
    allowScheduling: node.allowScheduling && !node.deleting && !isDisabledForEngine,
    cordoned: node.cordoned,
    evictionRequested: node.evictionRequested,
    maintenance: undefined,
    drain: undefined,
    drainStatus: undefined,
    conditions: [condition('Ready', node.ready), schedulable],
    // A node without address has no data engine for our rules: there it is the instance manager and the image.
    controlUrl: runsEngine && hasImage ? `longhorn:${node.name}` : undefined,
    nbdHost: undefined,
    nbdPort: undefined,
    bootId: undefined,
    lastHeartbeatAt: undefined,
    version: 1,
  };
}

function toDisk(
  disk: VectorDisk,
  node: VectorNode,
  conditions: ConditionSource,
  settings: ClusterSettings,
): StorageDisk {
  const isReady = conditions === 'recorded' ? disk.ready : node.ready && disk.ready;
  const ready = condition('Ready', isReady);
  const facts: StorageDisk = {
    id: asId<DiskId>(disk.id),
    nodeId: asId<NodeId>(node.name),
    name: disk.id,
    path: disk.id,
    type: disk.type,
    fileSystem: disk.fsType,
    tags: disk.tags,
    allowScheduling: disk.allowScheduling,
    evictionRequested: disk.evictionRequested,
    storageReservedBytes: disk.storageReserved,
    storageMaximumBytes: disk.storageMaximum,
    storageAvailableBytes: disk.storageAvailable,
    storageScheduledBytes: disk.storageScheduled,
    // Longhorn does not know what of a disk's booked bytes is written.
    writtenBytes: 0,
    conditions: [ready],
    version: 1,
  };
  const schedulable =
    conditions === 'derived'
      ? { ...diskSchedulableCondition(facts, node.ready, settings), lastTransitionAt: LONG_AGO }
      : condition('Schedulable', disk.schedulable, disk.schedulableReason);
  return { ...facts, conditions: [ready, schedulable] };
}

function condition<Type extends 'Ready' | 'Schedulable'>(
  type: Type,
  isTrue: boolean,
  reason = '',
): Condition<Type> {
  return { type, status: isTrue ? 'True' : 'False', reason, message: '', lastTransitionAt: LONG_AGO };
}
