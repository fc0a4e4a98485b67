/**
 * Questions to Longhorn's scheduler in the form of vectors, in which only what matters is said: for rules that few or no
 * recorded vectors pin.
 */
import { GIB } from '@holdfast/core/model/bytes.js';
import { runVector } from '@holdfast/core/scheduling/conformance/run-vector.js';

const NOW = '2015-01-02T00:00:00Z';
export const LONG_AGO = '2015-01-01T00:00:00Z';

export type Json = Record<string, unknown>;

const SETTINGS = {
  replicaSoftAntiAffinity: false,
  replicaZoneSoftAntiAffinity: true,
  replicaDiskSoftAntiAffinity: true,
  allowEmptyNodeSelectorVolume: true,
  allowEmptyDiskSelectorVolume: true,
  disableSchedulingOnCordonedNode: true,
  storageOverProvisioningPercentage: 100,
  storageMinimalAvailablePercentage: 25,
  replicaAutoBalance: 'disabled',
  replicaAutoBalanceDiskPressurePercentage: 90,
  replicaReplenishmentWaitInterval: 600,
  fastReplicaRebuildEnabledV1: true,
  fastReplicaRebuildEnabledV2: true,
};

export function aVectorDisk(id: string, part: Json = {}): Json {
  return {
    id,
    type: 'filesystem',
    fsType: 'ext4',
    allowScheduling: true,
    storageMaximum: 100 * GIB,
    storageAvailable: 100 * GIB,
    storageReserved: 0,
    storageScheduled: 0,
    ready: true,
    schedulable: true,
    ...part,
  };
}

export function aVectorNode(name: string, part: Json = {}, disks: Json[] = [aVectorDisk(`${name}-d`)]): Json {
  return {
    name,
    ready: true,
    schedulable: true,
    allowScheduling: true,
    engineImageReady: true,
    instanceManagerState: 'running',
    disks,
    ...part,
  };
}

function aVolume(part: Json = {}): Json {
  return {
    name: 'v',
    size: 10 * GIB,
    actualSize: 0,
    numberOfReplicas: 3,
    dataEngine: 'v1',
    dataLocality: 'disabled',
    attachedNodeId: '',
    robustness: 'healthy',
    replicaSoftAntiAffinity: 'ignored',
    replicaZoneSoftAntiAffinity: 'ignored',
    replicaDiskSoftAntiAffinity: 'ignored',
    replicaAutoBalance: 'ignored',
    ...part,
  };
}

function aReplica(name: string, part: Json = {}): Json {
  return {
    name,
    nodeId: '',
    diskId: '',
    size: 10 * GIB,
    healthyAt: '',
    failedAt: '',
    active: true,
    rebuildRetryCount: 0,
    ...part,
  };
}

/** A replica on the disk `<node>-d`. */
export function on(node: string, part: Json = {}): Json {
  return aReplica(`on-${node}`, { nodeId: node, diskId: `${node}-d`, healthyAt: LONG_AGO, ...part });
}

const DEGRADED = { robustness: 'degraded', lastDegradedAt: NOW };

type Given = {
  nodes: Json[];
  volume?: Json;
  settings?: Json;
  existing?: Json[];
  sources?: Json[];
  replica?: Json;
};

/** `node/disk`, or the reasons of a refusal. */
export function placed({
  nodes,
  volume = {},
  settings = {},
  existing = [],
  sources = [],
  replica = {},
}: Given): string {
  const { got } = runVector({
    op: 'schedule-replica',
    name: 'case',
    category: 'unpinned',
    now: NOW,
    settings: { ...SETTINGS, ...settings },
    nodes,
    volume: aVolume(volume),
    existingReplicas: existing,
    linkedCloneSourceReplicas: sources,
    replicaToSchedule: aReplica('new', replica),
    expected: { unschedulable: true, reasons: ['asked only for what we answer'] },
  });
  return got;
}

/** Which failed replica is taken back, and how long a new one waits. */
export function reused({
  nodes,
  volume = {},
  settings = {},
  existing = [],
  sources = [],
  affinity = '',
}: Given & { affinity?: string }): string {
  const { got } = runVector({
    op: 'reuse-failed-replica',
    name: 'case',
    category: 'unpinned',
    now: NOW,
    settings: { ...SETTINGS, ...settings },
    nodes,
    volume: aVolume({ ...DEGRADED, ...volume }),
    existingReplicas: existing,
    linkedCloneSourceReplicas: sources,
    hardNodeAffinity: affinity,
    expectedReuse: {
      acceptableReplicas: ['asked only for what we answer'],
      requireNewReplicaWaitSeconds: -1,
    },
  });
  return got;
}
