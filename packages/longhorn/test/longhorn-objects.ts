/**
 * Objects of Longhorn as a release writes them, made of the facts that a decision of its scheduler reads. For tests: what is written here
 * and read again has to be the same facts.
 */
import type {
  VectorDisk,
  VectorNode,
  VectorReplica,
  VectorSettings,
  VectorVolume,
} from '@holdfast/core/scheduling/conformance/vector.js';

export const RELEASES = [
  '1.2',
  '1.3',
  '1.4',
  '1.5',
  '1.6',
  '1.7',
  '1.8',
  '1.9',
  '1.10',
  '1.11',
  '1.12',
  '1.13',
] as const;
export type Release = (typeof RELEASES)[number];

export type World = {
  readonly settings: VectorSettings;
  readonly nodes: readonly VectorNode[];
  readonly volumes: readonly { readonly volume: VectorVolume; readonly replicas: readonly VectorReplica[] }[];
};

export type Json = Record<string, unknown>;

const SETTING_NAMES: Readonly<Record<keyof VectorSettings, string>> = {
  replicaSoftAntiAffinity: 'replica-soft-anti-affinity',
  replicaZoneSoftAntiAffinity: 'replica-zone-soft-anti-affinity',
  replicaDiskSoftAntiAffinity: 'replica-disk-soft-anti-affinity',
  allowEmptyNodeSelectorVolume: 'allow-empty-node-selector-volume',
  allowEmptyDiskSelectorVolume: 'allow-empty-disk-selector-volume',
  disableSchedulingOnCordonedNode: 'disable-scheduling-on-cordoned-node',
  storageOverProvisioningPercentage: 'storage-over-provisioning-percentage',
  storageMinimalAvailablePercentage: 'storage-minimal-available-percentage',
  replicaAutoBalance: 'replica-auto-balance',
  replicaAutoBalanceDiskPressurePercentage: 'replica-auto-balance-disk-pressure-percentage',
  replicaReplenishmentWaitInterval: 'replica-replenishment-wait-interval',
  fastReplicaRebuildEnabledV1: 'fast-replica-rebuild-enabled',
  fastReplicaRebuildEnabledV2: 'fast-replica-rebuild-enabled',
};

const NAMESPACE = 'storage-of-ours';
const minorOf = (release: Release) => Number(release.split('.')[1]);

/** Lists by plural, as the API server gives them; `kubernetes/nodes` are those of the core group. */
export function objectsOf(world: World, release: Release): Map<string, Json[]> {
  const write = new Writer(minorOf(release));
  return new Map([
    ['kubernetes/nodes', world.nodes.map((node) => write.kubernetesNode(node))],
    ['nodes', world.nodes.map((node) => write.node(node))],
    ['volumes', world.volumes.map(({ volume }) => write.volume(volume))],
    [
      'replicas',
      world.volumes.flatMap(({ volume, replicas }) =>
        replicas.map((replica) => write.replica(replica, volume)),
      ),
    ],
    ['settings', write.settings(world.settings, release)],
    ['engineimages', write.engineImages(world.nodes)],
    ['instancemanagers', write.instanceManagers(world.nodes)],
    ['backingimages', world.volumes.flatMap(({ volume }) => write.backingImage(volume))],
  ]);
}

class Writer {
  constructor(private readonly minor: number) {}

  private object(kind: string, name: string, parts: Json, metadata: Json = {}): Json {
    const apiVersion = `longhorn.io/${this.minor < 3 ? 'v1beta1' : 'v1beta2'}`;
    return {
      apiVersion,
      kind,
      metadata: { name, namespace: NAMESPACE, creationTimestamp: '2015-01-01T00:00:00Z', ...metadata },
      ...parts,
    };
  }

  private conditions(list: readonly Json[]): unknown {
    const whole = list.map(
      (one): Json => ({
        lastProbeTime: '',
        lastTransitionTime: '2015-01-01T00:00:00Z',
        reason: '',
        message: '',
        ...one,
      }),
    );
    return this.minor < 3 ? Object.fromEntries(whole.map((one) => [String(one.type), one])) : whole;
  }

  kubernetesNode({ name, cordoned, v2DataEngineDisabled }: VectorNode): Json {
    const labels = v2DataEngineDisabled ? { 'node.longhorn.io/disable-v2-data-engine': 'true' } : {};
    return {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels },
      spec: cordoned ? { unschedulable: true } : {},
    };
  }

  node(node: VectorNode): Json {
    const spec = {
      name: node.name,
      allowScheduling: node.allowScheduling,
      evictionRequested: node.evictionRequested,
      tags: node.tags,
      disks: Object.fromEntries(
        node.disks
          .filter(({ missingFromSpec }) => !missingFromSpec)
          .map((disk) => [`disk-${disk.id}`, this.diskSpec(disk)]),
      ),
    };
    const status = {
      conditions: this.conditions([
        { type: 'Ready', status: node.ready ? 'True' : 'False' },
        {
          type: 'Schedulable',
          status: node.schedulable ? 'True' : 'False',
          reason: node.schedulable ? '' : 'KubernetesNodeCordoned',
        },
      ]),
      diskStatus: Object.fromEntries(node.disks.map((disk) => [`disk-${disk.id}`, this.diskStatus(disk)])),
      region: node.region,
      zone: node.zone,
    };
    return this.object(
      'Node',
      node.name,
      { spec, status },
      node.deleting ? { deletionTimestamp: '2015-01-01T00:00:00Z' } : {},
    );
  }

  private diskSpec(disk: VectorDisk): Json {
    return {
      path: `/var/lib/longhorn-${disk.id}/`,
      allowScheduling: disk.allowScheduling,
      evictionRequested: disk.evictionRequested,
      storageReserved: disk.storageReserved,
      tags: disk.tags.length === 0 ? null : disk.tags,
      ...(this.minor < 5 && disk.type === 'filesystem' ? {} : { diskType: disk.type }),
    };
  }

  private diskStatus(disk: VectorDisk): Json {
    return {
      diskUUID: disk.id,
      storageMaximum: disk.storageMaximum,
      storageAvailable: disk.storageAvailable,
      storageScheduled: disk.storageScheduled,
      scheduledReplica: disk.scheduledReplicas,
      filesystemType: disk.fsType,
      ...(disk.type === 'block' ? { diskType: 'block' } : {}),
      conditions: this.conditions([
        { type: 'Ready', status: disk.ready ? 'True' : 'False' },
        { type: 'Schedulable', status: disk.schedulable ? 'True' : 'False', reason: disk.schedulableReason },
      ]),
    };
  }

  volume(volume: VectorVolume): Json {
    const spec = {
      size: String(volume.size),
      numberOfReplicas: volume.numberOfReplicas,
      nodeSelector: volume.nodeSelector,
      diskSelector: volume.diskSelector,
      dataLocality: volume.dataLocality,
      nodeID: volume.attachedNodeId,
      Standby: false,
      frontend: 'blockdev',
      accessMode: '',
      replicaSoftAntiAffinity: volume.replicaSoftAntiAffinity,
      replicaZoneSoftAntiAffinity: volume.replicaZoneSoftAntiAffinity,
      replicaDiskSoftAntiAffinity: volume.replicaDiskSoftAntiAffinity,
      replicaAutoBalance: volume.replicaAutoBalance,
      topologyRequirement: volume.topologyRequirement,
      backingImage: volume.backingImage === undefined ? '' : `image-of-${volume.name}`,
      ...(volume.linkedCloneOfVolume === ''
        ? {}
        : { cloneMode: 'linked-clone', dataSource: `vol://${volume.linkedCloneOfVolume}` }),
      ...this.engineFields(volume.dataEngine),
    };
    const status = {
      actualSize: volume.actualSize,
      state: volume.attachedNodeId === '' ? 'detached' : 'attached',
      robustness: volume.robustness,
      lastDegradedAt: volume.lastDegradedAt,
      currentNodeID: volume.attachedNodeId,
      conditions: this.conditions([{ type: 'Scheduled', status: 'True' }]),
    };
    return this.object('Volume', volume.name, { spec, status });
  }

  /** Up to 1.8 `engineImage`; the engine's name is `backendStoreDriver` from 1.5 to 1.8 and `dataEngine` from 1.6 on. */
  private engineFields(engine: string): Json {
    const image =
      this.minor < 6
        ? { engineImage: 'engine:1' }
        : { image: 'engine:1', ...(this.minor < 9 ? { engineImage: '' } : {}) };
    if (this.minor < 5) return engine === 'v1' ? image : { ...image, backendStoreDriver: engine };
    if (this.minor < 6) return { ...image, backendStoreDriver: engine };
    return { ...image, dataEngine: engine, ...(this.minor < 9 ? { backendStoreDriver: '' } : {}) };
  }

  replica(replica: VectorReplica, volume: VectorVolume): Json {
    const evicted = replica.evictionRequested ? { evictionRequested: true } : {};
    const spec = {
      volumeName: volume.name,
      volumeSize: String(replica.size),
      nodeID: replica.nodeId,
      diskID: replica.diskId,
      healthyAt: replica.healthyAt,
      failedAt: replica.failedAt,
      active: replica.active,
      rebuildRetryCount: replica.rebuildRetryCount,
      hardNodeAffinity: replica.hardNodeAffinity,
      linkedCloneSrcReplicaName: replica.linkedCloneSrcReplicaName,
      ...this.engineFields(volume.dataEngine),
      ...(this.minor < 5 ? {} : evicted),
    };
    const status = {
      currentState: 'running',
      conditions: this.conditions([]),
      ...(this.minor < 5 ? evicted : {}),
    };
    return this.object(
      'Replica',
      replica.name,
      { spec, status },
      {
        labels: { longhornvolume: volume.name },
        ...(replica.deleting ? { deletionTimestamp: '2015-01-01T00:00:00Z' } : {}),
      },
    );
  }

  settings(settings: VectorSettings, release: Release): Json[] {
    const { fastReplicaRebuildEnabledV1: v1, fastReplicaRebuildEnabledV2: v2, ...plain } = settings;
    const setting = (name: string, value: string) => this.object('Setting', name, { value });
    const perEngine = this.minor < 10 ? String(v1) : JSON.stringify({ v1: String(v1), v2: String(v2) });
    return [
      setting('current-longhorn-version', `v${release}.0`),
      setting('fast-replica-rebuild-enabled', perEngine),
      ...Object.entries(plain).map(([name, value]) =>
        setting(SETTING_NAMES[name as keyof VectorSettings], String(value)),
      ),
    ];
  }

  engineImages(nodes: readonly VectorNode[]): Json[] {
    const nodeDeploymentMap = Object.fromEntries(
      nodes.map(({ name, engineImageReady }) => [name, engineImageReady]),
    );
    return [
      this.object('EngineImage', 'ei-1', {
        spec: { image: 'engine:1' },
        status: { state: 'deployed', nodeDeploymentMap },
      }),
    ];
  }

  instanceManagers(nodes: readonly VectorNode[]): Json[] {
    const manager = (nodeID: string, type: string, currentState: string, dataEngine: string) =>
      this.object('InstanceManager', `im-${type}-${dataEngine}-${nodeID}`, {
        spec: { nodeID, type, ...(this.minor < 6 && dataEngine === 'v1' ? {} : { dataEngine }) },
        status: { currentState },
      });
    return [
      // So that there are some, whatever the nodes have.
      manager('elsewhere', 'aio', 'running', 'v1'),
      ...nodes
        .filter(({ instanceManagerState }) => instanceManagerState !== 'missing')
        .flatMap(({ name, instanceManagerState: state }) => [
          ...(this.minor < 5 ? [manager(name, 'engine', 'stopped', 'v1')] : []),
          manager(name, this.minor < 5 ? 'replica' : 'aio', state, 'v1'),
          manager(name, 'aio', state, 'v2'),
        ]),
    ];
  }

  backingImage({ name, backingImage }: VectorVolume): Json[] {
    return backingImage === undefined
      ? []
      : [this.object('BackingImage', `image-of-${name}`, { spec: { ...backingImage } })];
  }
}
