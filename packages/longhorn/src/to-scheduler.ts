/**
 * A cluster as core's scheduler reads it under the `longhorn` profile: first in the form of the recorded decisions, from which there is
 * one way to fleet and request only, so that what agrees with Longhorn there agrees here.
 */
import type { DataEngine, StorageDisk } from '@holdfast/core/model/node.js';
import type { FleetView } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { followingValue, overridesFrom } from '@holdfast/core/model/volume-overrides.js';
import { type ConditionSource, toFleet } from '@holdfast/core/scheduling/conformance/to-fleet.js';
import {
  toReplica,
  toRequest,
  type VectorPlacement,
} from '@holdfast/core/scheduling/conformance/to-request.js';
import type {
  VectorDisk,
  VectorNode,
  VectorReplica,
  VectorSettings,
  VectorVolume,
} from '@holdfast/core/scheduling/conformance/vector.js';
import type { PlacementQuestion } from '@holdfast/core/scheduling/explanation/placement-question.js';
import { PLACEMENT_RULES } from '@holdfast/core/scheduling/filters/rules.js';
import type { SchedulingProfile } from '@holdfast/core/scheduling/framework/framework.js';
import { antiAffinity } from '@holdfast/core/scheduling/framework/placement-request.js';
import { LONGHORN_PROFILE } from '@holdfast/core/scheduling/longhorn/longhorn-profile.js';
import type {
  LonghornCluster,
  LonghornDisk,
  LonghornNode,
  LonghornReplica,
  LonghornVolume,
} from './model.js';
import { conditionOf, isTrue } from './reading/fields.js';

/**
 * Longhorn's rules over the facts in the place of recorded conditions. A cure changes facts, such as the bytes that are free, and the
 * condition that Longhorn's controller makes of them follows later.
 */
export const LONGHORN_BY_FACTS: SchedulingProfile = {
  ...LONGHORN_PROFILE,
  name: 'longhorn-by-facts',
  rules: PLACEMENT_RULES,
};

/** Id of a disk: its UUID. One that Longhorn has not seen has none yet, and holds nothing. */
export function diskIdOf({ uuid, nodeName, name }: LonghornDisk): string {
  return uuid === '' ? `${nodeName}/${name}` : uuid;
}

export function schedulerSettings({ settings }: LonghornCluster): VectorSettings {
  const settingsOf = (engine: DataEngine) => (name: string) => settings.get(name)?.[engine] ?? '';
  const textOf = settingsOf('v1');
  // As Longhorn has them where nothing is set.
  const flag = (name: string, otherwise: boolean, engine: DataEngine = 'v1') => {
    const value = settingsOf(engine)(name);
    return value === '' ? otherwise : value === 'true';
  };
  const whole = (name: string, otherwise: number) => {
    const value = textOf(name);
    return /^-?\d+$/.test(value) ? Number(value) : otherwise;
  };
  return {
    replicaSoftAntiAffinity: flag('replica-soft-anti-affinity', false),
    replicaZoneSoftAntiAffinity: flag('replica-zone-soft-anti-affinity', true),
    replicaDiskSoftAntiAffinity: flag('replica-disk-soft-anti-affinity', true),
    allowEmptyNodeSelectorVolume: flag('allow-empty-node-selector-volume', true),
    allowEmptyDiskSelectorVolume: flag('allow-empty-disk-selector-volume', true),
    disableSchedulingOnCordonedNode: flag('disable-scheduling-on-cordoned-node', true),
    storageOverProvisioningPercentage: whole('storage-over-provisioning-percentage', 100),
    storageMinimalAvailablePercentage: whole('storage-minimal-available-percentage', 25),
    replicaAutoBalance: textOf('replica-auto-balance') || 'disabled',
    replicaAutoBalanceDiskPressurePercentage: whole('replica-auto-balance-disk-pressure-percentage', 90),
    replicaReplenishmentWaitInterval: whole('replica-replenishment-wait-interval', 600),
    fastReplicaRebuildEnabledV1: flag('fast-replica-rebuild-enabled', true),
    fastReplicaRebuildEnabledV2: flag('fast-replica-rebuild-enabled', true, 'v2'),
  };
}

/** Which nodes can run the volume depends on its engine and on the image that it wants. */
export function schedulerNodes(cluster: LonghornCluster, volume: LonghornVolume): VectorNode[] {
  const image = cluster.engineImages.find((one) => one.image === volume.image);
  const managers = managersByNode(cluster, volume.dataEngine);
  return cluster.nodes.map((node) => ({
    name: node.name,
    zone: node.zone,
    region: node.region,
    tags: [...node.tags],
    ready: isTrue(node.conditions, 'Ready'),
    cordoned: node.isCordoned,
    schedulable: isTrue(node.conditions, 'Schedulable'),
    allowScheduling: node.allowScheduling,
    evictionRequested: node.evictionRequested,
    deleting: node.isDeleting,
    // A dump of some kinds only says nothing of images and managers: then they are taken to be there.
    engineImageReady: cluster.engineImages.length === 0 || image?.deployedOn.has(node.name) === true,
    instanceManagerState:
      cluster.instanceManagers.length === 0 ? 'running' : (managers.get(node.name) ?? 'missing'),
    v2DataEngineDisabled: node.isV2Disabled,
    disks: node.disks.map(schedulerDisk),
  }));
}

function managersByNode({ instanceManagers }: LonghornCluster, engine: DataEngine): Map<string, string> {
  const states = new Map<string, string>();
  for (const { nodeName, type, dataEngine, state } of instanceManagers) {
    // Up to 1.4 replicas had managers of their own.
    if (dataEngine !== engine || type === 'engine') continue;
    if (states.get(nodeName) !== 'running') states.set(nodeName, state);
  }
  return states;
}

function schedulerDisk(disk: LonghornDisk): VectorDisk {
  const schedulable = conditionOf(disk.conditions, 'Schedulable');
  return {
    id: diskIdOf(disk),
    type: disk.type,
    fsType: disk.fileSystem,
    tags: [...disk.tags],
    allowScheduling: disk.allowScheduling,
    evictionRequested: disk.evictionRequested,
    missingFromSpec: disk.isMissingFromSpec,
    storageMaximum: disk.maximumBytes,
    storageAvailable: disk.availableBytes,
    storageReserved: disk.reservedBytes,
    storageScheduled: disk.scheduledBytes,
    scheduledReplicas: Object.fromEntries(disk.scheduledReplicas),
    ready: isTrue(disk.conditions, 'Ready'),
    schedulable: schedulable?.status === 'True',
    schedulableReason: schedulable?.reason ?? '',
  };
}

export function schedulerVolume(volume: LonghornVolume, cluster: LonghornCluster): VectorVolume {
  const image = cluster.backingImages.find(({ name }) => name === volume.backingImage);
  return {
    name: volume.name,
    size: volume.sizeBytes,
    actualSize: volume.actualBytes,
    numberOfReplicas: volume.numberOfReplicas,
    nodeSelector: [...volume.nodeSelector],
    diskSelector: [...volume.diskSelector],
    dataEngine: volume.dataEngine,
    dataLocality: volume.dataLocality,
    attachedNodeId: volume.nodeName,
    robustness: volume.robustness,
    lastDegradedAt: volume.lastDegradedAt,
    replicaSoftAntiAffinity: volume.replicaSoftAntiAffinity,
    replicaZoneSoftAntiAffinity: volume.replicaZoneSoftAntiAffinity,
    replicaDiskSoftAntiAffinity: volume.replicaDiskSoftAntiAffinity,
    replicaAutoBalance: volume.replicaAutoBalance,
    topologyRequirement: volume.topology.map((term) => ({ ...term })),
    backingImage:
      image === undefined
        ? undefined
        : { nodeSelector: [...image.nodeSelector], diskSelector: [...image.diskSelector] },
    linkedCloneOfVolume: volume.linkedCloneOf,
  };
}

export function schedulerReplica(replica: LonghornReplica): VectorReplica {
  return {
    name: replica.name,
    nodeId: replica.nodeName,
    diskId: replica.diskUuid,
    size: replica.sizeBytes,
    healthyAt: replica.healthyAt,
    failedAt: replica.failedAt,
    active: replica.isActive,
    evictionRequested: replica.evictionRequested,
    deleting: replica.isDeleting,
    rebuildRetryCount: replica.rebuildRetryCount,
    hardNodeAffinity: replica.hardNodeAffinity,
    linkedCloneSrcReplicaName: replica.linkedCloneSource,
    volumeName: replica.volumeName,
  };
}

/** Complete input of the scheduler for one volume. */
export type VolumeInScheduler = {
  readonly placement: VectorPlacement;
  /** With disks named as users named them. @throws StorageFault `fleet.inconsistent` */
  fleet(conditions: ConditionSource): FleetView;
};

/** @param replicasOf the replicas of a volume by its name */
export function volumeInScheduler(
  cluster: LonghornCluster,
  volume: LonghornVolume,
  replicasOf: ReadonlyMap<string, readonly LonghornReplica[]>,
): VolumeInScheduler {
  const nodes = schedulerNodes(cluster, volume);
  const settings = schedulerSettings(cluster);
  const placement: VectorPlacement = {
    volume: schedulerVolume(volume, cluster),
    replicas: (replicasOf.get(volume.name) ?? []).map(schedulerReplica),
    cloneSourceReplicas: (replicasOf.get(volume.linkedCloneOf) ?? []).map(schedulerReplica),
    settings,
    nodes,
  };
  const fleet = (conditions: ConditionSource) =>
    withNames(toFleet({ nodes, settings, conditions }, volume.dataEngine), cluster.nodes);
  return { placement, fleet };
}

function withNames(fleet: FleetView, nodes: readonly LonghornNode[]): FleetView {
  const known = new Map(nodes.flatMap(({ disks }) => disks.map((disk) => [diskIdOf(disk), disk] as const)));
  const named = (disk: StorageDisk): StorageDisk => {
    const { name, path } = known.get(disk.id) ?? disk;
    return { ...disk, name, path };
  };
  return { ...fleet, disks: fleet.disks.map(named) };
}

/** A replica that does not exist yet, or has no place. */
export function newReplicaOf({ name, sizeBytes }: LonghornVolume): VectorReplica {
  return {
    name: `${name}-new`,
    nodeId: '',
    diskId: '',
    size: sizeBytes,
    healthyAt: '',
    failedAt: '',
    active: true,
    evictionRequested: false,
    deleting: false,
    rebuildRetryCount: 0,
    hardNodeAffinity: '',
    linkedCloneSrcReplicaName: '',
    volumeName: name,
  };
}

/** Where that replica would go by Longhorn's rules over the facts; cures can be tried on it. */
export function questionAbout(
  { placement, fleet }: VolumeInScheduler,
  replica: VectorReplica,
  now: Date,
): PlacementQuestion {
  const { volume, replicas } = placement;
  const asked = toRequest(placement, replica);
  return {
    volume: placeableVolume(volume),
    replicas: replicas.filter(({ diskId, name }) => diskId !== '' && name !== replica.name).map(toReplica),
    fleet: fleet('recorded'),
    now,
    profile: LONGHORN_BY_FACTS,
    refine: (request, question) => ({
      ...asked,
      // Parts that a cure may have changed.
      nodeSelector: request.nodeSelector,
      diskSelector: request.diskSelector,
      nodeAntiAffinity: request.nodeAntiAffinity,
      zoneAntiAffinity: antiAffinity(
        question.volume.spec.replicaZoneSoftAntiAffinity,
        question.fleet.settings['replica-zone-soft-anti-affinity'],
      ),
      diskAntiAffinity: request.diskAntiAffinity,
      replicas: request.replicas,
    }),
  };
}

function placeableVolume(volume: VectorVolume): Pick<Volume, 'spec' | 'writtenBytes' | 'lifecycle'> {
  return {
    spec: {
      ...overridesFrom(followingValue),
      sizeBytes: volume.size,
      numberOfReplicas: volume.numberOfReplicas,
      dataEngine: volume.dataEngine,
      nodeSelector: volume.nodeSelector,
      diskSelector: volume.diskSelector,
      topologyRequirement: [],
      dataLocality: volume.dataLocality,
      replicaSoftAntiAffinity: answer(volume.replicaSoftAntiAffinity),
      replicaZoneSoftAntiAffinity: answer(volume.replicaZoneSoftAntiAffinity),
      replicaDiskSoftAntiAffinity: answer(volume.replicaDiskSoftAntiAffinity),
    },
    writtenBytes: volume.actualSize,
    // The node that it is attached to comes with the request.
    lifecycle: DETACHED,
  };
}

function answer(value: VectorVolume['replicaSoftAntiAffinity']): 'ignored' | 'enabled' | 'disabled' {
  return value === '' ? 'ignored' : value;
}
