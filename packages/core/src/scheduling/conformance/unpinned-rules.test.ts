/**
 * Rules of Longhorn's scheduler (scheduler-spec sections 1 to 9) that few or no recorded vectors pin: written as
 * vectors, with the answers that the text gives.
 */
import { describe, expect, test } from '@jest/globals';
import { runVector } from './run-vector.js';

const GIB = 2 ** 30;
const TIB = 2 ** 40;
const NOW = '2015-01-02T00:00:00Z';
const LONG_AGO = '2015-01-01T00:00:00Z';

type Json = Record<string, unknown>;

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

function aDisk(id: string, part: Json = {}): Json {
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

function aNode(name: string, part: Json = {}, disks: Json[] = [aDisk(`${name}-d`)]): Json {
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
function on(node: string, part: Json = {}): Json {
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
function placed({
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
function reused({
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

describe('nodes (section 3)', () => {
  test.each([
    {
      name: 'one that is being deleted takes nothing',
      part: { deleting: true },
      want: 'nodes are unavailable',
    },
    {
      name: 'one that is being emptied takes replicas: only the switch counts',
      part: { evictionRequested: true },
      want: 'a/a-d',
    },
    {
      name: 'one whose condition says so is taken, cordoned or not',
      part: { cordoned: true },
      want: 'a/a-d',
    },
    {
      name: 'one without an engine',
      part: { instanceManagerState: 'error' },
      want: 'none of the node candidates contains a ready engine image',
    },
    {
      name: 'one without the image',
      part: { engineImageReady: false },
      want: 'none of the node candidates contains a ready engine image',
    },
  ])('$name', ({ part, want }) => {
    expect(placed({ nodes: [aNode('a', part)] })).toBe(want.includes('/') ? want : `unschedulable (${want})`);
  });

  test('v2 minds the label that closes a node to it, and no engine image; v1 the other way round', () => {
    const nodes = (part: Json) => [aNode('a', part, [aDisk('a-d', { type: 'block' }), aDisk('a-f')])];
    const v2 = { dataEngine: 'v2' };
    expect(placed({ nodes: nodes({ v2DataEngineDisabled: true }), volume: v2 })).toBe(
      'unschedulable (nodes are unavailable)',
    );
    expect(placed({ nodes: nodes({ v2DataEngineDisabled: true }) })).toBe('a/a-f');
    expect(placed({ nodes: nodes({ engineImageReady: false }), volume: v2 })).toBe('a/a-d');
  });

  test('of several requirements the first that no node meets is told, and with no node at all the first there is', () => {
    const clone = { linkedCloneOfVolume: 'source' };
    const topology = { topologyRequirement: [{ zone: 'z' }] };
    const pinned = { hardNodeAffinity: 'b' };
    const nodes = [aNode('a')];
    const down = [aNode('a', { ready: false })];
    expect(placed({ nodes: down, volume: { ...clone, ...topology }, replica: pinned })).toBe(
      'unschedulable (linked clone replica cannot be satisfied)',
    );
    expect(placed({ nodes: down, volume: topology, replica: pinned })).toBe(
      'unschedulable (hard affinity cannot be satisfied)',
    );
    expect(placed({ nodes: down, volume: topology })).toBe(
      'unschedulable (topology requirement cannot be satisfied)',
    );
    expect(placed({ nodes, volume: topology })).toBe(
      'unschedulable (topology requirement cannot be satisfied)',
    );
    expect(placed({ nodes: [] })).toBe('unschedulable (nodes are unavailable)');
  });

  test('a time that can not be read matters once there are nodes to choose from, and not before', () => {
    const volume = { robustness: 'degraded', lastDegradedAt: 'yesterday' };
    expect(placed({ nodes: [aNode('a')], volume })).toBe('unschedulable (longhorn client operation failed)');
    const dayAlone = { ...volume, lastDegradedAt: '2015-01-01' };
    expect(placed({ nodes: [aNode('a')], volume: dayAlone })).toBe(
      'unschedulable (longhorn client operation failed)',
    );
    expect(placed({ nodes: [aNode('a', { ready: false })], volume })).toBe(
      'unschedulable (nodes are unavailable)',
    );
    expect(placed({ nodes: [aNode('a', { engineImageReady: false })], volume })).toBe(
      'unschedulable (none of the node candidates contains a ready engine image)',
    );
    expect(placed({ nodes: [aNode('a')], volume, replica: { nodeId: 'a' } })).toBe(
      'unschedulable (replica already scheduled)',
    );
  });
});

describe('disks (sections 5 and 6)', () => {
  test('one that only the status knows takes part in nothing', () => {
    const gone = aDisk('a-gone', { missingFromSpec: true, storageAvailable: 90 * GIB });
    expect(placed({ nodes: [aNode('a', {}, [gone])] })).toBe('unschedulable (disks are unavailable)');
    expect(placed({ nodes: [aNode('a', {}, [gone, aDisk('a-d')])] })).toBe('a/a-d');
  });

  test('Ready is not looked at, Schedulable is; a disk that is left out gives no reason of its own', () => {
    expect(placed({ nodes: [aNode('a', {}, [aDisk('a-d', { ready: false })])] })).toBe('a/a-d');
    const closed = aDisk('a-d', { schedulable: false, schedulableReason: 'DiskPressure' });
    expect(placed({ nodes: [aNode('a', {}, [closed])] })).toBe('unschedulable (disks are unavailable)');
    const tagged = { diskSelector: ['ssd'] };
    expect(placed({ nodes: [aNode('a', {}, [closed, aDisk('a-e')])], volume: tagged })).toBe(
      'unschedulable (tags not fulfilled)',
    );
  });

  test.each([
    { fsType: 'ext4', size: 16 * TIB - 1, want: 'a/a-d' },
    { fsType: 'ext4', size: 16 * TIB, want: 'unschedulable (incompatible volume size)' },
    { fsType: 'ext2/ext3', size: 16 * TIB, want: 'unschedulable (incompatible volume size)' },
    { fsType: 'xfs', size: 16 * TIB, want: 'a/a-d' },
    { fsType: '', size: 16 * TIB, want: 'a/a-d' },
    { fsType: 'btrfs', size: 16 * TIB, want: 'a/a-d' },
  ])('a file of $size bytes on $fsType', ({ fsType, size, want }) => {
    const disk = aDisk('a-d', { fsType, storageMaximum: 64 * TIB, storageAvailable: 64 * TIB });
    expect(placed({ nodes: [aNode('a', {}, [disk])], volume: { size } })).toBe(want);
  });

  test('the ceiling of a file system is no matter of block disks', () => {
    const disk = aDisk('a-d', { type: 'block', storageMaximum: 64 * TIB, storageAvailable: 64 * TIB });
    expect(placed({ nodes: [aNode('a', {}, [disk])], volume: { size: 16 * TIB, dataEngine: 'v2' } })).toBe(
      'a/a-d',
    );
  });

  test.each([
    {
      name: 'free: one byte more than the minimum',
      disk: { storageAvailable: 25 * GIB + 1 },
      volume: {},
      want: 'a/a-d',
    },
    {
      name: 'free: exactly the minimum',
      disk: { storageAvailable: 25 * GIB },
      volume: {},
      want: 'insufficient',
    },
    {
      name: 'free: the data itself takes the last byte',
      disk: { storageAvailable: 30 * GIB },
      volume: { actualSize: 5 * GIB },
      want: 'insufficient',
    },
    {
      name: 'free: one byte less of data',
      disk: { storageAvailable: 30 * GIB },
      volume: { actualSize: 5 * GIB - 1 },
      want: 'a/a-d',
    },
    {
      name: 'free: the reserve plays no part',
      disk: { storageAvailable: 26 * GIB, storageReserved: 90 * GIB },
      volume: {},
      want: 'a/a-d',
    },
    { name: 'booked: exactly the limit', disk: { storageScheduled: 90 * GIB }, volume: {}, want: 'a/a-d' },
    {
      name: 'booked: one byte past it',
      disk: { storageScheduled: 90 * GIB + 1 },
      volume: {},
      want: 'insufficient',
    },
    {
      name: 'booked: a reserve larger than the disk',
      disk: { storageReserved: 101 * GIB },
      volume: {},
      want: 'insufficient',
    },
  ])('$name', ({ disk, volume, want }) => {
    const got = placed({ nodes: [aNode('a', {}, [aDisk('a-d', disk)])], volume });
    expect(got).toBe(want === 'insufficient' ? 'unschedulable (insufficient storage)' : want);
  });

  test('what was placed in the same pass is booked, failed and leaving replicas too', () => {
    const nodes = [aNode('a', {}, [aDisk('a-d', { storageScheduled: 75 * GIB })])];
    const settings = { replicaSoftAntiAffinity: true };
    const fresh = on('a', { failedAt: LONG_AGO, deleting: true });
    expect(placed({ nodes, settings, existing: [fresh] })).toBe('a/a-d');
    const two = [fresh, on('a', { name: 'another' })];
    expect(placed({ nodes, settings, existing: two })).toBe('unschedulable (insufficient storage)');
    const known = aDisk('a-d', { storageScheduled: 75 * GIB, scheduledReplicas: { 'on-a': 10 * GIB } });
    expect(placed({ nodes: [aNode('a', {}, [known])], settings, existing: two })).toBe('a/a-d');
  });

  test('a disk is held by a replica that is being deleted, and never by one that can not return', () => {
    const nodes = [aNode('a')];
    const settings = { replicaSoftAntiAffinity: true, replicaDiskSoftAntiAffinity: false };
    expect(placed({ nodes, settings, existing: [on('a', { deleting: true })] })).toBe(
      'unschedulable (no reason)',
    );
    const spent = on('a', { failedAt: LONG_AGO, rebuildRetryCount: 5 });
    expect(placed({ nodes, settings, existing: [spent] })).toBe('a/a-d');
  });
});

describe('tiers (section 4)', () => {
  const zones = [aNode('a', { zone: 'east' }), aNode('b', { zone: 'east' })];
  const hardZones = { replicaZoneSoftAntiAffinity: false };

  test('in a hard zone only a leaving node in a leaving zone may be shared', () => {
    expect(
      placed({ nodes: zones, settings: hardZones, existing: [on('a', { evictionRequested: true })] }),
    ).toBe('a/a-d');
    const mixed = [on('a', { evictionRequested: true }), on('b')];
    expect(placed({ nodes: zones, settings: hardZones, existing: mixed })).toBe('unschedulable (no reason)');
  });

  test('best-effort balancing lets an evicted one share the zone of one that stays', () => {
    const mixed = [on('a', { evictionRequested: true }), on('b')];
    const volume = { replicaAutoBalance: 'best-effort' };
    expect(placed({ nodes: zones, settings: hardZones, existing: mixed, volume })).toBe('a/a-d');
    expect(
      placed({
        nodes: zones,
        settings: hardZones,
        existing: mixed,
        volume: { replicaAutoBalance: 'least-effort' },
      }),
    ).toBe('unschedulable (no reason)');
    const global = { ...hardZones, replicaAutoBalance: 'best-effort' };
    expect(placed({ nodes: zones, settings: global, existing: mixed })).toBe('a/a-d');
    expect(
      placed({ nodes: zones, settings: global, existing: mixed, volume: { replicaAutoBalance: 'disabled' } }),
    ).toBe('unschedulable (no reason)');
  });

  test('a soft node is no matter where zones are hard', () => {
    const settings = { ...hardZones, replicaSoftAntiAffinity: true };
    expect(placed({ nodes: zones, settings, existing: [on('a')] })).toBe('unschedulable (no reason)');
  });

  test('a failed replica holds its node until the very second at which the wait is over', () => {
    const nodes = [aNode('a')];
    const existing = [on('a', { failedAt: LONG_AGO })];
    const since = (lastDegradedAt: string) => ({ robustness: 'degraded', lastDegradedAt });
    expect(placed({ nodes, existing, volume: since('2015-01-01T23:50:00Z') })).toBe('a/a-d');
    expect(placed({ nodes, existing, volume: since('2015-01-01T23:50:01Z') })).toBe(
      'unschedulable (no reason)',
    );
    expect(placed({ nodes, existing })).toBe('unschedulable (no reason)');
  });
});

describe('linked clones (sections 3 and 8)', () => {
  const nodes = [aNode('a'), aNode('b')];
  const volume = { linkedCloneOfVolume: 'source' };
  const source = (node: string, part: Json = {}) =>
    on(node, { name: `source-${node}`, volumeName: 'source', ...part });

  test('go to a whole source that stays, to their own where they name one', () => {
    expect(placed({ nodes, volume, sources: [source('b')] })).toBe('b/b-d');
    const named = { linkedCloneSrcReplicaName: 'source-a' };
    expect(placed({ nodes, volume, sources: [source('a'), source('b')], replica: named })).toBe('a/a-d');
    expect(placed({ nodes, volume, sources: [source('b')], replica: named })).toBe(
      'unschedulable (linked clone replica cannot be satisfied)',
    );
  });

  test.each([
    { name: 'failed', part: { failedAt: LONG_AGO } },
    { name: 'never healthy', part: { healthyAt: '' } },
    { name: 'being evicted', part: { evictionRequested: true } },
    { name: 'nowhere', part: { nodeId: '', diskId: '' } },
  ])('a source that is $name is none', ({ part }) => {
    expect(placed({ nodes, volume, sources: [source('a', part)] })).toBe(
      'unschedulable (linked clone replica cannot be satisfied)',
    );
  });

  test('one disk of the node is the source, the others are not candidates', () => {
    const two = [aNode('a', {}, [aDisk('a-d', { storageScheduled: 95 * GIB }), aDisk('a-e')])];
    expect(placed({ nodes: two, volume, sources: [source('a')] })).toBe(
      'unschedulable (insufficient storage)',
    );
  });

  test('a failed one returns only beside the whole source that it names', () => {
    const failed = on('a', { failedAt: LONG_AGO, linkedCloneSrcReplicaName: 'source-a' });
    expect(reused({ nodes, volume, existing: [failed], sources: [source('a')] })).toBe(
      'reuse on-a, wait 601 s',
    );
    expect(reused({ nodes, volume, existing: [failed], sources: [source('b')] })).toBe(
      'reuse none, wait 601 s',
    );
    expect(
      reused({ nodes, volume, existing: [failed], sources: [source('a', { failedAt: LONG_AGO })] }),
    ).toBe('reuse none, wait 601 s');
  });
});

describe('reuse of a failed replica (section 8)', () => {
  const failed = on('a', { failedAt: LONG_AGO });

  test.each([
    { name: 'a sound disk', disk: {}, want: 'on-a' },
    {
      name: 'a disk that is not ready',
      disk: { ready: false, schedulable: false, schedulableReason: 'DiskNotReady' },
      want: 'none',
    },
    { name: 'a disk whose scheduling is off', disk: { allowScheduling: false }, want: 'none' },
    { name: 'a disk that is being emptied', disk: { evictionRequested: true }, want: 'none' },
    { name: 'a disk that the spec does not have', disk: { missingFromSpec: true }, want: 'none' },
    {
      name: 'a disk booked past its limit, but not full',
      disk: { schedulable: false, schedulableReason: 'DiskPressure', storageScheduled: 500 * GIB },
      want: 'on-a',
    },
    {
      name: 'a disk under pressure that is full',
      disk: { schedulable: false, schedulableReason: 'DiskPressure', storageAvailable: 25 * GIB },
      want: 'none',
    },
    {
      name: 'a disk under pressure, one byte from full',
      disk: { schedulable: false, schedulableReason: 'DiskPressure', storageAvailable: 25 * GIB + 1 },
      want: 'on-a',
    },
    {
      name: 'a disk that is unschedulable for another reason',
      disk: { schedulable: false, schedulableReason: 'NodeNotReady' },
      want: 'none',
    },
  ])('on $name: $want', ({ disk, want }) => {
    expect(reused({ nodes: [aNode('a', {}, [aDisk('a-d', disk)])], existing: [failed] })).toBe(
      `reuse ${want}, wait 601 s`,
    );
  });

  test.each([
    { name: 'its disk lacks the tag', node: {}, volume: { diskSelector: ['ssd'] }, want: 'none' },
    { name: 'its node lacks the tag', node: {}, volume: { nodeSelector: ['ssd'] }, want: 'none' },
    { name: 'its node is being deleted', node: { deleting: true }, volume: {}, want: 'none' },
    { name: 'its node takes no replicas', node: { allowScheduling: false }, volume: {}, want: 'none' },
    { name: 'its engine is not there', node: { instanceManagerState: 'stopped' }, volume: {}, want: 'none' },
    { name: 'its size is no matter', node: {}, volume: { size: 200 * GIB }, want: 'on-a' },
  ])('$name: $want', ({ node, volume, want }) => {
    expect(reused({ nodes: [aNode('a', node)], existing: [failed], volume })).toBe(
      `reuse ${want}, wait 601 s`,
    );
  });

  test.each([
    { name: 'that was tried too often', part: { rebuildRetryCount: 5 }, want: 'reuse none, wait 0 s' },
    { name: 'that is to be evicted', part: { evictionRequested: true }, want: 'reuse none, wait 0 s' },
    { name: 'that is being deleted', part: { deleting: true }, want: 'reuse on-a, wait 601 s' },
    {
      name: 'that is not running, which is waited for all the same',
      part: { active: false },
      want: 'reuse none, wait 601 s',
    },
  ])('one $name', ({ part, want }) => {
    expect(reused({ nodes: [aNode('a')], existing: [on('a', { failedAt: LONG_AGO, ...part })] })).toBe(want);
  });

  test('a healthy one in the zone does not keep it out, a healthy one on its node does', () => {
    const nodes = [aNode('a', { zone: 'z' }), aNode('b', { zone: 'z' })];
    const settings = { replicaZoneSoftAntiAffinity: false };
    expect(reused({ nodes, settings, existing: [failed, on('b')] })).toBe('reuse on-a, wait 601 s');
    expect(reused({ nodes, existing: [failed, on('a', { name: 'live' })] })).toBe('reuse none, wait 601 s');
  });

  test('a file that its file system can not hold keeps it out', () => {
    const nodes = [aNode('a', {}, [aDisk('a-d', { fsType: 'ext4' })])];
    expect(reused({ nodes, existing: [failed], volume: { size: 16 * TIB } })).toBe('reuse none, wait 601 s');
  });

  test('the last to fail returns first; of equals any', () => {
    const nodes = [aNode('a'), aNode('b')];
    expect(reused({ nodes, existing: [failed, on('b', { failedAt: '2015-01-01T00:00:01Z' })] })).toBe(
      'reuse on-b, wait 601 s',
    );
    expect(reused({ nodes, existing: [failed, on('b', { failedAt: LONG_AGO })] })).toBe(
      'reuse on-a or on-b, wait 601 s',
    );
  });

  test('v2 takes none back and waits for none without the fast rebuild; v1 does not mind', () => {
    const v2 = { dataEngine: 'v2' };
    const nodes = [aNode('a', {}, [aDisk('a-d', { type: 'block' })])];
    expect(reused({ nodes, volume: v2, existing: [failed] })).toBe('reuse on-a, wait 601 s');
    expect(
      reused({ nodes, volume: v2, existing: [failed], settings: { fastReplicaRebuildEnabledV2: false } }),
    ).toBe('reuse none, wait 0 s');
    expect(
      reused({ nodes: [aNode('a')], existing: [failed], settings: { fastReplicaRebuildEnabledV1: false } }),
    ).toBe('reuse on-a, wait 601 s');
  });

  test('a new one waits for the whole interval and a second, and at its very end no more', () => {
    const nodes = [aNode('a')];
    const wait = (volume: Json, part: Json = {}) => reused({ nodes, volume, existing: [failed], ...part });
    expect(wait({ lastDegradedAt: '2015-01-01T23:50:01Z' })).toBe('reuse on-a, wait 2 s');
    expect(wait({ lastDegradedAt: '2015-01-01T23:50:00Z' })).toBe('reuse on-a, wait 0 s');
    expect(wait({ robustness: 'healthy' })).toBe('reuse on-a, wait 0 s');
    // Anti-affinity can't be asked without the time, so nothing is reused either.
    expect(wait({ lastDegradedAt: 'yesterday' })).toBe('reuse none, wait 0 s');
    expect(wait({ lastDegradedAt: '2015-01-01T23:50:00.500Z' })).toBe('reuse on-a, wait 1 s');
    expect(wait({}, { affinity: 'a' })).toBe('reuse on-a, wait 0 s');
    expect(wait({}, { affinity: 'b' })).toBe('reuse none, wait 0 s');
  });
});

describe('data locality (section 2)', () => {
  const nodes = [aNode('a', {}, [aDisk('a-d', { storageAvailable: 50 * GIB })]), aNode('b')];
  const volume = { dataLocality: 'best-effort', attachedNodeId: 'a' };

  test('goes to the attached node, unless a copy that has not failed is there, whatever becomes of it', () => {
    expect(placed({ nodes, volume })).toBe('a/a-d');
    expect(placed({ nodes, volume: { attachedNodeId: 'a' } })).toBe('b/b-d');
    const soft = { replicaSoftAntiAffinity: true };
    const leaving = on('a', { evictionRequested: true, active: false });
    expect(placed({ nodes, volume, existing: [leaving], settings: soft })).toBe('b/b-d');
    expect(placed({ nodes, volume, existing: [on('a', { failedAt: LONG_AGO, rebuildRetryCount: 5 })] })).toBe(
      'a/a-d',
    );
  });
});
