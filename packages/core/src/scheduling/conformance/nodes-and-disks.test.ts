/** Longhorn's rules about nodes and disks (docs/longhorn-rules.md) that few or no vectors pin, by the text. */
import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import {
  aVectorDisk,
  aVectorNode,
  type Json,
  LONG_AGO,
  on,
  placed,
} from '@holdfast/testkit/vector-builder.js';
import { describe, expect, test } from '@jest/globals';

describe('nodes', () => {
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
    expect(placed({ nodes: [aVectorNode('a', part)] })).toBe(
      want.includes('/') ? want : `unschedulable (${want})`,
    );
  });

  test('v2 minds the label that closes a node to it, and no engine image; v1 the other way round', () => {
    const nodes = (part: Json) => [
      aVectorNode('a', part, [aVectorDisk('a-d', { type: 'block' }), aVectorDisk('a-f')]),
    ];
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
    const nodes = [aVectorNode('a')];
    const down = [aVectorNode('a', { ready: false })];
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

  test('a requirement that some node met is not told, a later one that none did is', () => {
    const nodes = [aVectorNode('a'), aVectorNode('b')];
    const clone = { linkedCloneOfVolume: 'source' };
    const sources = [on('a', { name: 'source-a', volumeName: 'source' })];
    const topology = { topologyRequirement: [{ zone: 'z' }] };
    // The source is on a, the pin on b, and neither node is down.
    expect(placed({ nodes, volume: clone, sources, replica: { hardNodeAffinity: 'b' } })).toBe(
      'unschedulable (hard affinity cannot be satisfied)',
    );
    expect(
      placed({ nodes, volume: { ...clone, ...topology }, sources, replica: { hardNodeAffinity: 'a' } }),
    ).toBe('unschedulable (topology requirement cannot be satisfied)');
    const withoutImage = [aVectorNode('a', { zone: 'z', engineImageReady: false }), aVectorNode('b')];
    expect(placed({ nodes: withoutImage, volume: topology, replica: { hardNodeAffinity: 'a' } })).toBe(
      'unschedulable (none of the node candidates contains a ready engine image)',
    );
  });

  test.each([
    { name: 'zone and region', term: { zone: 'z', region: 'r' }, want: 'b/b-d' },
    { name: 'the zone of one and the region of another', term: { zone: 'z', region: 's' }, want: 'none' },
    { name: 'a region alone', term: { zone: '', region: 's' }, want: 'c/c-d' },
    { name: 'neither, which every node matches', term: { zone: '', region: '' }, want: 'a/a-d' },
    { name: 'a zone that only a label would give', term: { zone: 'y', region: '' }, want: 'none' },
  ])('a topology term of $name', ({ term, want }) => {
    const nodes = [
      aVectorNode('a'),
      aVectorNode('b', { zone: 'z', region: 'r' }),
      aVectorNode('c', { zone: 'x', region: 's' }),
    ];
    const got = placed({ nodes, volume: { topologyRequirement: [term] } });
    expect(got).toBe(want === 'none' ? 'unschedulable (topology requirement cannot be satisfied)' : want);
    // Any one term is enough.
    const two = placed({ nodes, volume: { topologyRequirement: [{ zone: 'y', region: '' }, term] } });
    expect(two).toBe(got);
  });

  test('a time that can not be read matters once there are nodes to choose from, and not before', () => {
    const volume = { robustness: 'degraded', lastDegradedAt: 'yesterday' };
    expect(placed({ nodes: [aVectorNode('a')], volume })).toBe(
      'unschedulable (longhorn client operation failed)',
    );
    const dayAlone = { ...volume, lastDegradedAt: '2015-01-01' };
    expect(placed({ nodes: [aVectorNode('a')], volume: dayAlone })).toBe(
      'unschedulable (longhorn client operation failed)',
    );
    expect(placed({ nodes: [aVectorNode('a', { ready: false })], volume })).toBe(
      'unschedulable (nodes are unavailable)',
    );
    expect(placed({ nodes: [aVectorNode('a', { engineImageReady: false })], volume })).toBe(
      'unschedulable (none of the node candidates contains a ready engine image)',
    );
    expect(placed({ nodes: [aVectorNode('a')], volume, replica: { nodeId: 'a' } })).toBe(
      'unschedulable (replica already scheduled)',
    );
  });
});

describe('disks (sections 5 and 6)', () => {
  test('one that only the status knows takes part in nothing', () => {
    const gone = aVectorDisk('a-gone', { missingFromSpec: true, storageAvailable: 90 * GIB });
    expect(placed({ nodes: [aVectorNode('a', {}, [gone])] })).toBe('unschedulable (disks are unavailable)');
    expect(placed({ nodes: [aVectorNode('a', {}, [gone, aVectorDisk('a-d')])] })).toBe('a/a-d');
  });

  test('Ready is not looked at, Schedulable is; a disk that is left out gives no reason of its own', () => {
    expect(placed({ nodes: [aVectorNode('a', {}, [aVectorDisk('a-d', { ready: false })])] })).toBe('a/a-d');
    const closed = aVectorDisk('a-d', { schedulable: false, schedulableReason: 'DiskPressure' });
    expect(placed({ nodes: [aVectorNode('a', {}, [closed])] })).toBe('unschedulable (disks are unavailable)');
    const tagged = { diskSelector: ['ssd'] };
    expect(placed({ nodes: [aVectorNode('a', {}, [closed, aVectorDisk('a-e')])], volume: tagged })).toBe(
      'unschedulable (tags not fulfilled)',
    );
  });

  test('every node tells its own reason, each reason once', () => {
    const evicting = aVectorNode('a', {}, [aVectorDisk('a-d', { evictionRequested: true })]);
    expect(placed({ nodes: [evicting] })).toBe('unschedulable (disks are unavailable)');
    const untagged = aVectorNode('b');
    const full = aVectorNode('c', {}, [aVectorDisk('c-d', { tags: ['ssd'], storageScheduled: 95 * GIB })]);
    const block = aVectorNode('d', {}, [aVectorDisk('d-d', { type: 'block' })]);
    expect(placed({ nodes: [evicting, untagged, full], volume: { diskSelector: ['ssd'] } })).toBe(
      'unschedulable (disks are unavailable; insufficient storage; tags not fulfilled)',
    );
    // Of a disk only the first reason: it is asked for its type before its tags.
    expect(placed({ nodes: [block], volume: { diskSelector: ['ssd'] } })).toBe(
      'unschedulable (disks are unavailable)',
    );
  });

  test.each([
    { tags: ['x'], selector: [], allowed: false, want: false },
    { tags: ['x'], selector: [], allowed: true, want: true },
    { tags: [], selector: [], allowed: false, want: true },
    { tags: ['x', 'y'], selector: ['y', 'x', 'y'], allowed: false, want: true },
    { tags: ['x'], selector: ['x', 'y'], allowed: true, want: false },
    { tags: ['X'], selector: ['x'], allowed: true, want: false },
  ])('selector $selector on tags $tags, empty ones allowed: $allowed → $want', (row) => {
    const { tags, selector, allowed, want } = row;
    const nodeSettings = { allowEmptyNodeSelectorVolume: allowed };
    const diskSettings = { allowEmptyDiskSelectorVolume: allowed };
    const taggedNode = [aVectorNode('a', { tags })];
    const taggedDisk = [aVectorNode('a', {}, [aVectorDisk('a-d', { tags })])];
    const image = (part: Json) => ({ backingImage: { nodeSelector: [], diskSelector: [], ...part } });
    const byNode = want ? 'a/a-d' : 'unschedulable (no reason)';
    const byDisk = want ? 'a/a-d' : 'unschedulable (tags not fulfilled)';
    expect(placed({ nodes: taggedNode, settings: nodeSettings, volume: { nodeSelector: selector } })).toBe(
      byNode,
    );
    expect(placed({ nodes: taggedDisk, settings: diskSettings, volume: { diskSelector: selector } })).toBe(
      byDisk,
    );
    // The image's selectors are asked in the same way, beside the volume's.
    expect(
      placed({
        nodes: taggedNode,
        settings: nodeSettings,
        volume: { nodeSelector: tags, ...image({ nodeSelector: selector }) },
      }),
    ).toBe(byNode);
    expect(
      placed({
        nodes: taggedDisk,
        settings: diskSettings,
        volume: { diskSelector: tags, ...image({ diskSelector: selector }) },
      }),
    ).toBe(byDisk);
  });

  test('the balance asks for the size of the replica, the space for that of the volume', () => {
    const nodes = [
      aVectorNode('a', {}, [aVectorDisk('a-d', { storageAvailable: 50 * GIB })]),
      aVectorNode('b'),
    ];
    expect(placed({ nodes })).toBe('b/b-d');
    // No disk has 200 GiB usable: any will do then, and the first is told.
    expect(placed({ nodes, replica: { size: 200 * GIB } })).toBe('a/a-d');
    expect(placed({ nodes, volume: { size: 200 * GIB } })).toBe('unschedulable (insufficient storage)');
  });

  test('what was placed in the same pass is not taken off in the balance', () => {
    const nodes = [
      aVectorNode('b'),
      aVectorNode('a', {}, [aVectorDisk('a-d', { storageAvailable: 95 * GIB })]),
    ];
    const existing = [on('a'), on('b', { size: 20 * GIB })];
    expect(placed({ nodes, existing, settings: { replicaSoftAntiAffinity: true } })).toBe('b/b-d');
  });

  test.each([
    { fsType: 'ext4', size: 16 * TIB - 1, want: 'a/a-d' },
    { fsType: 'ext4', size: 16 * TIB, want: 'unschedulable (incompatible volume size)' },
    { fsType: 'ext2/ext3', size: 16 * TIB, want: 'unschedulable (incompatible volume size)' },
    { fsType: 'xfs', size: 16 * TIB, want: 'a/a-d' },
    { fsType: '', size: 16 * TIB, want: 'a/a-d' },
    { fsType: 'btrfs', size: 16 * TIB, want: 'a/a-d' },
  ])('a file of $size bytes on $fsType', ({ fsType, size, want }) => {
    const disk = aVectorDisk('a-d', { fsType, storageMaximum: 64 * TIB, storageAvailable: 64 * TIB });
    expect(placed({ nodes: [aVectorNode('a', {}, [disk])], volume: { size } })).toBe(want);
  });

  test('the ceiling of a file system is no matter of block disks', () => {
    const disk = aVectorDisk('a-d', { type: 'block', storageMaximum: 64 * TIB, storageAvailable: 64 * TIB });
    expect(
      placed({ nodes: [aVectorNode('a', {}, [disk])], volume: { size: 16 * TIB, dataEngine: 'v2' } }),
    ).toBe('a/a-d');
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
    const got = placed({ nodes: [aVectorNode('a', {}, [aVectorDisk('a-d', disk)])], volume });
    expect(got).toBe(want === 'insufficient' ? 'unschedulable (insufficient storage)' : want);
  });

  test('what was placed in the same pass is booked, failed and leaving replicas too', () => {
    const nodes = [aVectorNode('a', {}, [aVectorDisk('a-d', { storageScheduled: 75 * GIB })])];
    const settings = { replicaSoftAntiAffinity: true };
    const fresh = on('a', { failedAt: LONG_AGO, deleting: true });
    expect(placed({ nodes, settings, existing: [fresh] })).toBe('a/a-d');
    const two = [fresh, on('a', { name: 'another' })];
    expect(placed({ nodes, settings, existing: two })).toBe('unschedulable (insufficient storage)');
    const known = aVectorDisk('a-d', { storageScheduled: 75 * GIB, scheduledReplicas: { 'on-a': 10 * GIB } });
    expect(placed({ nodes: [aVectorNode('a', {}, [known])], settings, existing: two })).toBe('a/a-d');
  });

  test('a disk is held by a replica that is being deleted, and never by one that can not return', () => {
    const nodes = [aVectorNode('a')];
    const settings = { replicaSoftAntiAffinity: true, replicaDiskSoftAntiAffinity: false };
    expect(placed({ nodes, settings, existing: [on('a', { deleting: true })] })).toBe(
      'unschedulable (no reason)',
    );
    const spent = on('a', { failedAt: LONG_AGO, rebuildRetryCount: 5 });
    expect(placed({ nodes, settings, existing: [spent] })).toBe('a/a-d');
  });
});
