/** Whole entities with harmless values, so that a test states only its subject. */
import type { Heartbeat, RebuildReport } from '@holdfast/core/model/agent-protocol.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ClusterId, type DiskId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import { NO_BYTES, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { newVolume, type Volume, type VolumeSpec } from '@holdfast/core/model/volume.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { followingValue, overridesFrom } from '@holdfast/core/model/volume-overrides.js';

/** A fixed moment: tests never read the clock. Whole milliseconds, as every store keeps them. */
export const NOON = new Date('2026-01-01T12:00:00.000Z');

/** The moment so many seconds after that noon, or before it where they are negative. */
export function secondsAfterNoon(seconds: number): Date {
  return new Date(NOON.getTime() + seconds * 1000);
}

/** The UUID of a number: readable in failures, and in the order of the numbers. */
export function testId(number: number): string {
  return `00000000-0000-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export const A_SPEC: VolumeSpec = {
  sizeBytes: GIB,
  numberOfReplicas: 3,
  dataEngine: 'v1',
  nodeSelector: [],
  topologyRequirement: [],
  diskSelector: [],
  dataLocality: 'disabled',
  ...overridesFrom(followingValue),
};

type VolumeOwner = Pick<Volume, 'organizationId' | 'projectId' | 'clusterId'>;

/** The owner of volumes in tests without a store: organization 1, project 2, cluster 3. */
export const AN_OWNER: VolumeOwner = {
  organizationId: asId(testId(1)),
  projectId: asId(testId(2)),
  clusterId: asId(testId(3)),
};

export function aVolume(owner: VolumeOwner, part: Partial<Volume> = {}): Volume {
  const facts = {
    id: asId<VolumeId>(testId(1)),
    name: 'pg-data',
    spec: A_SPEC,
    fill: undefined,
    createdAt: NOON,
  };
  return { ...newVolume({ ...owner, ...facts }), ...part };
}

/** A volume that needs nothing: detached, with all its copies. */
export function anIdleVolume(owner: VolumeOwner, part: Partial<Volume> = {}): Volume {
  return aVolume(owner, {
    lifecycle: DETACHED,
    robustness: 'healthy',
    observedGeneration: 1,
    conditions: [{ type: 'Scheduled', status: 'True', reason: '', message: '', lastTransitionAt: NOON }],
    ...part,
  });
}

export function aReplica(part: Partial<Replica> & Pick<Replica, 'volumeId'>): Replica {
  return {
    id: asId(testId(101)),
    nodeId: undefined,
    diskId: undefined,
    sizeBytes: GIB,
    intent: 'keep',
    mode: undefined,
    provisioned: false,
    healthyAt: undefined,
    lastHealthyAt: undefined,
    failedAt: undefined,
    lastFailedAt: undefined,
    failure: undefined,
    explanation: undefined,
    rebuildRetryCount: 0,
    writtenBytes: 0,
    secret: 'replica-secret-of-a-test',
    createdAt: NOON,
    version: 1,
    ...part,
  };
}

export function aSnapshot(part: Partial<Snapshot> = {}): Snapshot {
  return {
    id: asId(testId(601)),
    volumeId: asId(testId(1)),
    name: 'before-upgrade',
    origin: 'user',
    state: 'ready',
    parentId: undefined,
    sizeBytes: 0,
    checksums: [],
    recurringName: undefined,
    hashRequest: undefined,
    trouble: undefined,
    createdAt: NOON,
    ...part,
  };
}

export function aRebuild(part: Partial<Rebuild> = {}): Rebuild {
  return {
    id: asId(testId(201)),
    clusterId: AN_OWNER.clusterId,
    volumeId: asId(testId(1)),
    targetReplicaId: asId(testId(101)),
    targetNodeId: asId<NodeId>(testId(301)),
    sourceReplicaIds: [],
    sourceNodeIds: [],
    state: 'queued',
    phase: 'waiting',
    healthyCopies: 2,
    sizeBytes: GIB,
    relocates: false,
    waitingFor: '',
    waitingReason: undefined,
    purgesFirst: false,
    preemptedAt: undefined,
    paused: false,
    bandwidthBytesPerSecond: undefined,
    grantedBytesPerSecond: undefined,
    tuned: undefined,
    epoch: undefined,
    bytes: NO_BYTES,
    percent: 0,
    rateBytesPerSecond: 0,
    snapshots: [],
    attempts: 0,
    error: undefined,
    queuedAt: NOON,
    startedAt: undefined,
    finishedAt: undefined,
    version: 1,
    ...part,
  };
}

export function aDiskReport(
  diskId: DiskId,
  part: Partial<Heartbeat['disks'][number]> = {},
): Heartbeat['disks'][number] {
  return {
    diskId,
    name: `disk-${diskId.slice(-2)}`,
    path: `/disks/${diskId}`,
    type: 'filesystem',
    fileSystem: 'ext4',
    maximumBytes: 100 * GIB,
    availableBytes: 100 * GIB,
    ready: true,
    reason: '',
    message: '',
    ...part,
  };
}

export function anEngineReport(
  part: Partial<Heartbeat['engines'][number]> & { volumeId: string; epoch: number },
): Heartbeat['engines'][number] {
  return {
    state: 'running',
    reason: '',
    record: { epoch: part.epoch, dataGeneration: 1, members: [] },
    replicas: [],
    writtenBytes: 0,
    rebuilds: [],
    ...part,
  };
}

export function aRebuildReport(part: Partial<RebuildReport> & { rebuildId: string }): RebuildReport {
  return {
    replicaId: asId(testId(101)),
    state: 'running',
    phase: 'copying',
    bytes: NO_BYTES,
    rateBytesPerSecond: 0,
    snapshots: [],
    error: null,
    ...part,
  };
}

/** A control port of the node's own: an agent at another one's address would be taken for that one's next run. */
function portOf(name: string): number {
  return 7_500 + ([...name].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7) % 10_000);
}

/** A node that reports one disk, unless the part says otherwise. */
export function aHeartbeat(
  name: string,
  part: Omit<Partial<Heartbeat>, 'node'> & { node?: Partial<Heartbeat['node']> } = {},
): Heartbeat {
  const { node, ...rest } = part;
  return {
    node: {
      name,
      zone: 'zone-a',
      region: null,
      bootId: testId(401),
      controlUrl: `http://127.0.0.1:${portOf(name)}`,
      controlSecret: `control-secret-of-${name}`,
      nbdHost: '127.0.0.1',
      nbdPort: 7420,
      pid: 4242,
      version: '0.1.0',
      ...node,
    },
    disks: [],
    replicas: [],
    engines: [],
    ...rest,
  };
}

/** Ids under which a store under test has made its organization, project and cluster. */
export type TestTenant = VolumeOwner & { clusterId: ClusterId };
