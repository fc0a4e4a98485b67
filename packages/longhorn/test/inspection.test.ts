/** What an inspection says of clusters that have one thing wrong each. */
import { GIB } from '@holdfast/core/model/bytes.js';
import type {
  VectorNode,
  VectorReplica,
  VectorVolume,
} from '@holdfast/core/scheduling/conformance/vector.js';
import { describe, expect, test } from '@jest/globals';
import { inspectCluster, isLonghorn } from '../src/inspect-cluster.js';
import { type InspectionReport, reportSchema } from '../src/inspection/report.js';
import { type Json, objectsOf } from './longhorn-objects.js';
import { clusterOf } from './read-lists.js';
import { aDisk, aNode, aReplica, aVolume, aWorld } from './worlds.js';

const NOW = new Date('2015-01-02T00:00:00Z');

/** Three nodes with one disk of 100 GiB each, and one volume with a copy on each of the first two. */
type Given = {
  nodes?: VectorNode[];
  volume?: Partial<VectorVolume>;
  replicas?: VectorReplica[];
  settings?: Partial<ReturnType<typeof aWorld>['settings']>;
  /** Changes the objects before they are read. */
  change?: (lists: Map<string, Json[]>) => void;
};

const SETTINGS = {
  replicaSoftAntiAffinity: false,
  replicaZoneSoftAntiAffinity: true,
  allowEmptyNodeSelectorVolume: true,
  allowEmptyDiskSelectorVolume: true,
  storageOverProvisioningPercentage: 100,
  storageMinimalAvailablePercentage: 25,
  replicaAutoBalance: 'disabled',
};

function inspected({ nodes, volume, replicas, settings, change }: Given = {}): InspectionReport {
  const world = {
    settings: { ...aWorld('1.9').settings, ...SETTINGS, ...settings },
    nodes: nodes ?? [oneDisk('a', 'r-a'), oneDisk('b', 'r-b'), oneDisk('c')],
    volumes: [
      {
        volume: aVolume('v', { numberOfReplicas: 2, size: 10 * GIB, ...volume }),
        replicas: replicas ?? [onDisk('a'), onDisk('b')],
      },
    ],
  };
  const lists = objectsOf(world, '1.9');
  change?.(lists);
  const cluster = clusterOf(lists);
  return reportSchema.parse(inspectCluster({ cluster, signatures: [], alertFindings: [] }, 'dump.json', NOW));
}

const said = (report: InspectionReport) =>
  report.findings.map(({ code, object, message }) => `${code} ${object}: ${message}`);

test('a cluster that is in order has nothing to tell', () => {
  const report = inspected();
  expect({ volumes: report.volumes, findings: report.findings }).toEqual({ volumes: [], findings: [] });
  expect(report.summary).toEqual({ critical: 0, warning: 0, info: 0, volumesNotInOrder: 0 });
});

describe('a volume with a copy that has no place', () => {
  const full = (name: string, replica?: string) =>
    oneDisk(name, replica, { storageMaximum: 12 * GIB, storageAvailable: 11 * GIB });
  const given = (message: string): Given => ({
    nodes: [oneDisk('a', 'r-a'), full('b')],
    volume: { robustness: 'degraded', lastDegradedAt: '2015-01-01T00:00:00Z', size: 20 * GIB },
    replicas: [onDisk('a'), aReplica('v', 'r-x', { nodeId: '', diskId: '', healthyAt: '', size: 20 * GIB })],
    change: (lists) => {
      const [volume] = lists.get('volumes') ?? [];
      const condition = { type: 'Scheduled', status: 'False', reason: 'ReplicaSchedulingFailure', message };
      if (volume !== undefined) volume.status = { ...(volume.status as Json), conditions: [condition] };
    },
  });

  test('is told in the words of Longhorn and in ours, with numbers for each disk and cures that were tried', () => {
    const [volume] = inspected(given('precheck new replica failed: insufficient storage')).volumes;
    expect(volume).toMatchObject({
      name: 'v',
      severity: 'critical',
      says: '1 of 2 copies are whole, 1 without a place.',
      longhornSays: [{ condition: 'Scheduled', reason: 'ReplicaSchedulingFailure' }],
      replicas: { wanted: 2, healthy: 1, placed: 1, failed: 0, unplaced: 1 },
      placement: { longhornReasons: ['insufficient storage'], wouldGoTo: null },
      agreement: { agrees: true },
    });
    expect(volume?.placement?.rules.flatMap(({ rejections }) => rejections)).toContainEqual({
      node: 'b',
      disk: 'disk-b-d',
      reason: 'InsufficientProvisionableSpace',
      message: 'disk disk-b-d has 12 GiB of 12 GiB left to give and the replica needs 20 GiB',
      numbers: { requiredBytes: 20 * GIB, availableBytes: 12 * GIB, thresholdBytes: 12 * GIB },
    });
    expect(volume?.placement?.cures.join('\n')).toContain('storage-over-provisioning-percentage');
  });

  test('is told to be cured by freed space, which the recorded condition of the disk does not know yet', () => {
    const pressed = { storageAvailable: 20 * GIB, schedulable: false, schedulableReason: 'DiskPressure' };
    const part = given('precheck new replica failed: disks are unavailable');
    const [volume] = inspected({
      ...part,
      nodes: [oneDisk('a', 'r-a'), oneDisk('b', undefined, pressed)],
    }).volumes;
    expect(volume?.placement?.cures[0]).toMatch(/^Free .* goes to disk disk-b-d of node b/);
    expect(volume?.placement?.wouldGoTo).toBeNull();
  });

  test('is told to disagree where Longhorn gives another reason', () => {
    const [volume] = inspected(given('precheck new replica failed: tags not fulfilled')).volumes;
    expect(volume?.agreement).toEqual({
      agrees: false,
      sentence: 'Longhorn says tags not fulfilled; asked now, its rules say insufficient storage.',
    });
  });

  test('is told to have a place where the rules find one now', () => {
    const part = given('precheck new replica failed: insufficient storage');
    const [volume] = inspected({ ...part, nodes: [oneDisk('a', 'r-a'), oneDisk('b')] }).volumes;
    expect(volume?.placement?.wouldGoTo).toEqual({ node: 'b', disk: 'disk-b-d' });
    expect(volume?.agreement).toEqual({
      agrees: false,
      sentence: 'Longhorn found no place; asked now, its rules choose disk disk-b-d of node b.',
    });
  });
});

test.each<{ name: string; given: Given; wanted: string[] }>([
  {
    name: 'a sum that is not that of its entries',
    given: {
      nodes: [oneDisk('a', 'r-a', { storageScheduled: 15 * GIB }), oneDisk('b', 'r-b'), oneDisk('c')],
    },
    wanted: [
      'disk.scheduled-sum disk a/disk-a-d: storageScheduled is 15 GiB (16106127360 B), and its 1 entries come to 10 GiB (10737418240 B): ' +
        'placement reckons with 5 GiB (5368709120 B) too much',
    ],
  },
  {
    name: 'an entry without its replica, and a replica without its entry',
    given: { nodes: [oneDisk('a', 'r-gone'), oneDisk('b', 'r-b'), oneDisk('c')] },
    wanted: [
      'disk.scheduled-stray disk a/disk-a-d: scheduledReplica lists r-gone, which does not exist',
      'disk.scheduled-missing disk a/disk-a-d: replica r-a of 10 GiB (10737418240 B) is on it, and scheduledReplica does not list it',
    ],
  },
  {
    name: 'pressure that its condition says',
    given: {
      nodes: [
        oneDisk('a', 'r-a'),
        oneDisk('b', 'r-b'),
        oneDisk('c', undefined, {
          storageAvailable: 25 * GIB,
          schedulable: false,
          schedulableReason: 'DiskPressure',
        }),
      ],
    },
    wanted: [
      'disk.pressure disk c/disk-c-d: takes no new replica: 25 GiB (26843545600 B) are free, and more than 25 % of 100 GiB (107374182400 B) (25 GiB (26843545600 B)) have to be',
    ],
  },
  {
    name: 'pressure that is over',
    given: {
      nodes: [
        oneDisk('a', 'r-a'),
        oneDisk('b', 'r-b'),
        oneDisk('c', undefined, { schedulable: false, schedulableReason: 'DiskPressure' }),
      ],
    },
    wanted: [
      'disk.pressure-stale disk c/disk-c-d: its condition says DiskPressure, and its figures do not: 90 GiB (96636764160 B) are free (more than 25 GiB (26843545600 B) have to be), 0 B of 100 GiB (107374182400 B) are promised',
    ],
  },
  {
    name: 'a disk that promises too much and does not say so',
    given: {
      settings: { storageOverProvisioningPercentage: 5 },
      nodes: [oneDisk('a', 'r-a'), oneDisk('b', undefined), oneDisk('c')],
      volume: { numberOfReplicas: 1 },
      replicas: [onDisk('a')],
    },
    wanted: [
      'disk.pressure-unsaid disk a/disk-a-d: takes no new replica: 10 GiB (10737418240 B) are promised, and at most 5 % of what is not reserved (5 GiB (5368709120 B)) may be; its condition does not say so yet',
    ],
  },
  {
    name: 'two copies in one zone, where zones are hard',
    given: { settings: { replicaZoneSoftAntiAffinity: false } },
    wanted: [
      'replica.zone-shared volume v: 2 copies share the zone without a name, which its anti-affinity forbids: r-a, r-b',
    ],
  },
  {
    name: 'a selector that a node does not fulfil',
    given: { volume: { nodeSelector: ['fast'], numberOfReplicas: 2 } },
    wanted: ['a', 'b'].map(
      (node) =>
        `replica.selector replica r-${node}: is on node ${node} with no tag, and the volume asks for the tags fast`,
    ),
  },
  {
    name: 'more copies than are wanted',
    given: { volume: { numberOfReplicas: 1 } },
    wanted: ['volume.surplus volume v: has 2 copies, and wants 1: r-a, r-b'],
  },
  {
    name: 'no copy where the volume is attached',
    given: { volume: { dataLocality: 'best-effort', attachedNodeId: 'c' } },
    wanted: [
      'volume.locality volume v: asks for best-effort data, is attached to c, and has no whole copy there',
    ],
  },
  {
    name: 'a disk that is named by its name',
    given: {
      nodes: [oneDisk('a', 'r-a'), oneDisk('b'), oneDisk('c')],
      replicas: [onDisk('a'), onDisk('b', { diskId: 'disk-b-d' })],
    },
    wanted: ['replica.disk-unknown replica r-b: names disk disk-b-d, and no node has a disk of that UUID'],
  },
  {
    name: 'a disk that has moved to another node',
    given: {
      nodes: [oneDisk('a', 'r-a'), oneDisk('b', 'r-b'), oneDisk('c')],
      replicas: [onDisk('a'), onDisk('b', { nodeId: 'c' })],
    },
    wanted: ['replica.disk-moved replica r-b: is said to be on node c, and its disk is on node b'],
  },
  {
    name: 'an engine that uses a failed replica',
    given: {
      volume: { numberOfReplicas: 1 },
      replicas: [onDisk('a'), onDisk('b', { failedAt: '2015-01-01T00:00:00Z', rebuildRetryCount: 5 })],
      change: (lists) => lists.set('engines', [anEngine('e', { 'r-a': 'ERR', 'r-b': 'RW' })]),
    },
    wanted: [
      'engine.mode replica r-a: engine e has it as ERR, and its object says that it has not failed',
      'engine.mode replica r-b: engine e has it as RW, and its object says that it failed at 2015-01-01T00:00:00Z',
      'replica.no-retries replica r-b: failed, and was rebuilt in vain 5 times: Longhorn takes it back no more',
    ],
  },
  {
    name: 'two active engines of one volume',
    given: { change: (lists) => lists.set('engines', [anEngine('e-0', {}), anEngine('e-1', {})]) },
    wanted: ['engine.second volume v: has 2 active engines: e-0, e-1'],
  },
])('$name is found, and nothing else', ({ given, wanted }) => {
  expect(said(inspected(given))).toEqual(wanted);
});

test.each([
  {
    name: 'no whole copy',
    replicas: [onDisk('a', { healthyAt: '' }), onDisk('b', { healthyAt: '' })],
    robustness: 'faulted',
    wanted: 'critical',
  },
  {
    name: 'one copy left of two',
    replicas: [onDisk('a'), onDisk('b', { healthyAt: '' })],
    robustness: 'degraded',
    wanted: 'critical',
  },
  {
    name: 'two copies left of three',
    replicas: [onDisk('a'), onDisk('b')],
    robustness: 'degraded',
    wanted: 'warning',
  },
])('a volume with $name is $wanted', ({ replicas, robustness, wanted }) => {
  const numberOfReplicas = wanted === 'warning' ? 3 : 2;
  const { volumes } = inspected({
    replicas,
    volume: { robustness, numberOfReplicas, lastDegradedAt: '2015-01-01T00:00:00Z' },
  });
  expect(volumes.map(({ severity }) => severity)).toEqual([wanted]);
});

test('a cluster without nodes is inspected, and says what it can not say', () => {
  const report = inspected({ nodes: [], volume: { robustness: 'degraded' } });
  expect(report.volumes.map(({ placement }) => placement)).toEqual([null]);
  expect(report.assumptions).toContain('no nodes were read: nothing is said of places');
  expect(isLonghorn(clusterOf(new Map()))).toBe(false);
});

function anEngine(name: string, replicaModeMap: Json): Json {
  return {
    apiVersion: 'longhorn.io/v1beta2',
    kind: 'Engine',
    metadata: { name },
    spec: { volumeName: 'v', active: true },
    status: { replicaModeMap },
  };
}

function oneDisk(name: string, replica?: string, part: object = {}): VectorNode {
  return aNode(name, {
    disks: [
      aDisk(`${name}-d`, {
        storageMaximum: 100 * GIB,
        storageAvailable: 90 * GIB,
        storageReserved: 0,
        storageScheduled: replica === undefined ? 0 : 10 * GIB,
        scheduledReplicas: replica === undefined ? {} : { [replica]: 10 * GIB },
        ...part,
      }),
    ],
  });
}

function onDisk(node: string, part: Partial<VectorReplica> = {}): VectorReplica {
  return aReplica('v', `r-${node}`, { nodeId: node, diskId: `${node}-d`, ...part });
}
