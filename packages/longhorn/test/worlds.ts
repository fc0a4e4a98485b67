/** Worlds for tests: one with something in every field, and those of the recorded decisions. */
import fs from 'node:fs';
import { GIB } from '@holdfast/core/model/bytes.js';
import {
  isInformative,
  type Vector,
  type VectorDisk,
  type VectorNode,
  type VectorOf,
  type VectorReplica,
  type VectorVolume,
  vectorSchema,
} from '@holdfast/core/scheduling/conformance/vector.js';
import type { LonghornCluster } from '../src/model.js';
import { schedulerNodes, schedulerReplica, schedulerSettings, schedulerVolume } from '../src/to-scheduler.js';
import type { Release, World } from './longhorn-objects.js';

const LONG_AGO = '2015-01-01T00:00:00Z';

export function aWorld(release: Release): World {
  const minor = Number(release.split('.')[1]);
  return {
    settings: {
      replicaSoftAntiAffinity: true,
      replicaZoneSoftAntiAffinity: false,
      replicaDiskSoftAntiAffinity: false,
      allowEmptyNodeSelectorVolume: false,
      allowEmptyDiskSelectorVolume: false,
      disableSchedulingOnCordonedNode: false,
      storageOverProvisioningPercentage: 150,
      storageMinimalAvailablePercentage: 11,
      replicaAutoBalance: 'best-effort',
      replicaAutoBalanceDiskPressurePercentage: 85,
      replicaReplenishmentWaitInterval: 300,
      fastReplicaRebuildEnabledV1: true,
      // By engine only from 1.10 on.
      fastReplicaRebuildEnabledV2: minor < 10,
    },
    nodes: [
      aNode('a', { zone: 'east', region: 'r', tags: ['fast'] }),
      aNode('b', { ready: false, cordoned: true, schedulable: false, allowScheduling: false }),
      aNode('c', {
        deleting: true,
        evictionRequested: true,
        engineImageReady: false,
        instanceManagerState: 'error',
      }),
      aNode('d', { v2DataEngineDisabled: true, instanceManagerState: 'missing', disks: [] }),
    ],
    volumes: [
      {
        volume: aVolume('plain'),
        replicas: [
          aReplica('plain', 'plain-r-1'),
          aReplica('plain', 'plain-r-2', { nodeId: '', diskId: '', healthyAt: '' }),
        ],
      },
      {
        volume: aVolume('picky', {
          nodeSelector: ['fast'],
          diskSelector: ['ssd'],
          dataLocality: 'best-effort',
          attachedNodeId: 'a',
          robustness: 'degraded',
          lastDegradedAt: LONG_AGO,
          replicaSoftAntiAffinity: 'enabled',
          replicaAutoBalance: 'least-effort',
          backingImage: { nodeSelector: ['fast'], diskSelector: [] },
          topologyRequirement: [{ zone: 'east', region: '' }],
        }),
        replicas: [
          aReplica('picky', 'picky-r-1', {
            failedAt: LONG_AGO,
            rebuildRetryCount: 5,
            evictionRequested: true,
            deleting: true,
            active: false,
          }),
        ],
      },
    ],
  };
}

export function aDisk(id: string, part: Partial<VectorDisk> = {}): VectorDisk {
  return {
    id,
    type: 'filesystem',
    fsType: 'ext4',
    tags: [],
    allowScheduling: true,
    evictionRequested: false,
    missingFromSpec: false,
    storageMaximum: 118_225_516_953,
    storageAvailable: 394_085_056,
    storageReserved: 1_000_000,
    storageScheduled: 30 * GIB,
    scheduledReplicas: { 'plain-r-1': 10 * GIB, other: 20 * GIB },
    ready: true,
    schedulable: true,
    schedulableReason: '',
    ...part,
  };
}

export function aNode(name: string, part: Partial<VectorNode> = {}): VectorNode {
  return {
    name,
    zone: '',
    region: '',
    tags: [],
    ready: true,
    cordoned: false,
    schedulable: true,
    allowScheduling: true,
    evictionRequested: false,
    deleting: false,
    engineImageReady: true,
    instanceManagerState: 'running',
    v2DataEngineDisabled: false,
    disks: [
      aDisk(`${name}-1`, { tags: ['ssd'] }),
      aDisk(`${name}-2`, {
        ready: false,
        schedulable: false,
        schedulableReason: 'DiskPressure',
        scheduledReplicas: {},
      }),
    ],
    ...part,
  };
}

export function aVolume(name: string, part: Partial<VectorVolume> = {}): VectorVolume {
  return {
    name,
    size: 10 * GIB,
    actualSize: 123_456_789,
    numberOfReplicas: 3,
    nodeSelector: [],
    diskSelector: [],
    dataEngine: 'v1',
    dataLocality: 'disabled',
    attachedNodeId: '',
    robustness: 'healthy',
    lastDegradedAt: '',
    replicaSoftAntiAffinity: 'ignored',
    replicaZoneSoftAntiAffinity: 'ignored',
    replicaDiskSoftAntiAffinity: 'ignored',
    replicaAutoBalance: 'ignored',
    topologyRequirement: [],
    backingImage: undefined,
    linkedCloneOfVolume: '',
    ...part,
  };
}

export function aReplica(volumeName: string, name: string, part: Partial<VectorReplica> = {}): VectorReplica {
  return {
    name,
    nodeId: 'a',
    diskId: 'a-1',
    size: 10 * GIB,
    healthyAt: LONG_AGO,
    failedAt: '',
    active: true,
    evictionRequested: false,
    deleting: false,
    rebuildRetryCount: 0,
    hardNodeAffinity: '',
    linkedCloneSrcReplicaName: '',
    volumeName,
    ...part,
  };
}

/** The facts of a cluster that was read, in the form of a world. Lists are in the order of the source. */
export function worldRead(cluster: LonghornCluster): World {
  const [first] = cluster.volumes;
  if (first === undefined) throw new Error('there is no volume');
  return {
    settings: schedulerSettings(cluster),
    nodes: schedulerNodes(cluster, first),
    volumes: cluster.volumes.map((volume) => ({
      volume: schedulerVolume(volume, cluster),
      replicas: cluster.replicas.filter(({ volumeName }) => volumeName === volume.name).map(schedulerReplica),
    })),
  };
}

export type Question = VectorOf<'schedule-replica' | 'schedule-volume' | 'reuse-failed-replica'>;

const VECTORS = new URL('../../core/test/vectors/', import.meta.url);

/** The recorded decisions that have a cluster and one volume. */
export function fleetWorlds(): { readonly vector: Question; readonly index: number }[] {
  return fs
    .readdirSync(VECTORS)
    .sort()
    .flatMap((file): unknown[] => JSON.parse(fs.readFileSync(new URL(file, VECTORS), 'utf8')))
    .filter((vector) => !isInformative(vector))
    .map((vector) => vectorSchema.parse(vector))
    .filter(isQuestion)
    .map((vector, index) => ({ vector, index }));
}

function isQuestion(vector: Vector): vector is Question {
  return ['schedule-replica', 'schedule-volume', 'reuse-failed-replica'].includes(vector.op);
}

const SOURCE = 'source-of-the-clone';

export function worldOf(vector: Question): World {
  const { volume, linkedCloneSourceReplicas: sources } = vector;
  const asked = vector.op === 'schedule-replica' ? [vector.replicaToSchedule] : [];
  const source = volume.linkedCloneOfVolume === '' ? SOURCE : volume.linkedCloneOfVolume;
  return {
    settings: vector.settings,
    nodes: vector.nodes,
    volumes: [
      { volume, replicas: [...vector.existingReplicas, ...asked] },
      ...(sources.length === 0 ? [] : [{ volume: aVolume(source), replicas: sources }]),
    ],
  };
}

/** The same question with all that it is about taken from what was read. */
export function vectorOf(vector: Question, cluster: LonghornCluster): unknown {
  const volume = cluster.volumes.find(({ name }) => name === vector.volume.name);
  if (volume === undefined) throw new Error(`${vector.name}: the volume was not read`);
  const replicas = (name: string) =>
    cluster.replicas.filter(({ volumeName }) => volumeName === name).map(schedulerReplica);
  const ofVolume = replicas(volume.name);
  const asked = vector.op === 'schedule-replica' ? vector.replicaToSchedule.name : undefined;
  return {
    ...vector,
    settings: schedulerSettings(cluster),
    nodes: schedulerNodes(cluster, volume),
    volume: schedulerVolume(volume, cluster),
    existingReplicas: ofVolume.filter(({ name }) => name !== asked),
    linkedCloneSourceReplicas: replicas(volume.linkedCloneOf === '' ? SOURCE : volume.linkedCloneOf),
    ...(asked === undefined ? {} : { replicaToSchedule: ofVolume.find(({ name }) => name === asked) }),
  };
}
