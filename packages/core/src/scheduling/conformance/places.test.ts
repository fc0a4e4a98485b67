/** Longhorn's tiers, linked clones and locality (docs/longhorn-rules.md) where few or no vectors pin them. */
import { GIB } from '@holdfast/core/model/bytes.js';
import {
  aVectorDisk,
  aVectorNode,
  type Json,
  LONG_AGO,
  on,
  placed,
  reused,
} from '@holdfast/testkit/vector-builder.js';
import { describe, expect, test } from '@jest/globals';

describe('tiers', () => {
  const zones = [aVectorNode('a', { zone: 'east' }), aVectorNode('b', { zone: 'east' })];
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
    const nodes = [aVectorNode('a')];
    const existing = [on('a', { failedAt: LONG_AGO })];
    const since = (lastDegradedAt: string) => ({ robustness: 'degraded', lastDegradedAt });
    expect(placed({ nodes, existing, volume: since('2015-01-01T23:50:00Z') })).toBe('a/a-d');
    expect(placed({ nodes, existing, volume: since('2015-01-01T23:50:01Z') })).toBe(
      'unschedulable (no reason)',
    );
    expect(placed({ nodes, existing })).toBe('unschedulable (no reason)');
  });
});

describe('who occupies node and zone', () => {
  const nodes = [aVectorNode('a', { zone: 'z' }), aVectorNode('b', { zone: 'z' })];
  const hardZones = { replicaZoneSoftAntiAffinity: false };
  const nowhere = 'unschedulable (no reason)';

  test.each([
    { name: 'one that was never healthy does', part: { healthyAt: '' }, want: nowhere },
    { name: 'one that is not active does', part: { active: false }, want: nowhere },
    { name: 'one that is being deleted does not', part: { deleting: true }, want: 'b/b-d' },
    { name: 'a failed one that may return does', part: { failedAt: LONG_AGO }, want: nowhere },
    { name: 'its fifth try is its last', part: { failedAt: LONG_AGO, rebuildRetryCount: 4 }, want: nowhere },
    {
      name: 'a failed one that has tried five times does not',
      part: { failedAt: LONG_AGO, rebuildRetryCount: 5 },
      want: 'a/a-d',
    },
    {
      name: 'a failed one that is evicted does not: it never returns',
      part: { failedAt: LONG_AGO, evictionRequested: true },
      want: 'a/a-d',
    },
    { name: 'one without a disk, on its node, does', part: { diskId: '' }, want: nowhere },
  ])('$name', ({ part, want }) => {
    expect(placed({ nodes, settings: hardZones, existing: [on('a', part)] })).toBe(want);
  });

  test.each([
    { name: 'cordoned', part: { schedulable: false } },
    { name: 'down', part: { ready: false } },
    { name: 'without the engine image', part: { engineImageReady: false } },
    { name: 'outside the topology', part: {}, volume: { topologyRequirement: [{ zone: '', region: 'r' }] } },
  ])('one on a node that is $name does not', ({ part, volume = {} }) => {
    const withOne = [aVectorNode('a', { zone: 'z', ...part }), aVectorNode('b', { zone: 'z', region: 'r' })];
    expect(placed({ nodes: withOne, settings: hardZones, existing: [on('a')], volume })).toBe('b/b-d');
  });

  test('a pin leaves only its own node to be occupied', () => {
    expect(
      placed({ nodes, settings: hardZones, existing: [on('a')], replica: { hardNodeAffinity: 'b' } }),
    ).toBe('b/b-d');
  });

  test('a region is no failure domain', () => {
    const regions = [
      aVectorNode('a', { zone: 'y', region: 'r' }),
      aVectorNode('b', { zone: 'z', region: 'r' }),
    ];
    expect(placed({ nodes: regions, settings: hardZones, existing: [on('a')] })).toBe('b/b-d');
  });
});

describe('the tiers', () => {
  const SOFT_NODES = { replicaSoftAntiAffinity: true };
  const nowhere = 'unschedulable (no reason)';

  test('a leaving node is shared only while all on it leave, and only where nodes are hard', () => {
    const nodes = [aVectorNode('a', {}, [aVectorDisk('a-d'), aVectorDisk('a-e')]), aVectorNode('b')];
    const leaving = on('a', { evictionRequested: true });
    const existing = [leaving, on('b')];
    expect(placed({ nodes, existing })).toBe('a/a-e');
    expect(placed({ nodes, existing: [...existing, on('a', { name: 'stays' })] })).toBe(nowhere);
    // The tier of used nodes has the free disk of a as well.
    expect(placed({ nodes, existing: [...existing, on('a', { name: 'stays' })], settings: SOFT_NODES })).toBe(
      'a/a-e',
    );
  });

  test('the tier of used nodes asks for no tags of nodes, the others do', () => {
    const nodes = [aVectorNode('a', { tags: ['slow'] }, [aVectorDisk('a-d'), aVectorDisk('a-e')])];
    const volume = { nodeSelector: ['fast'] };
    expect(placed({ nodes, volume, settings: SOFT_NODES })).toBe(nowhere);
    expect(placed({ nodes, volume, settings: SOFT_NODES, existing: [on('a')] })).toBe('a/a-e');
    expect(placed({ nodes, volume, existing: [on('a', { evictionRequested: true })] })).toBe(nowhere);
  });

  test('a tier is left when its disks do not pass, and the reasons of all that were tried are told', () => {
    const full = aVectorDisk('b-d', { storageScheduled: 95 * GIB });
    const small = aVectorNode('b', { zone: 'y' }, [full]);
    const nodes = [aVectorNode('a', { zone: 'z' }), small, aVectorNode('c', { zone: 'z' })];
    expect(placed({ nodes, existing: [on('a')] })).toBe('c/c-d');
    const tagged = aVectorNode('c', { zone: 'z' }, [aVectorDisk('c-d', { type: 'block' })]);
    expect(placed({ nodes: [aVectorNode('a', { zone: 'z' }), small, tagged], existing: [on('a')] })).toBe(
      'unschedulable (disks are unavailable; insufficient storage)',
    );
  });

  test('of all disks of a tier those without a replica are kept, of whatever node', () => {
    const nodes = [
      aVectorNode('a', {}, [aVectorDisk('a-d', { storageMaximum: 900 * GIB, storageAvailable: 900 * GIB })]),
      aVectorNode('b', {}, [aVectorDisk('b-d'), aVectorDisk('b-e', { storageAvailable: 50 * GIB })]),
    ];
    const existing = [on('a'), on('b')];
    expect(placed({ nodes, existing, settings: SOFT_NODES })).toBe('b/b-e');
    const three = [...existing, on('b', { name: 'third', diskId: 'b-e' })];
    expect(placed({ nodes, existing: three, settings: SOFT_NODES })).toBe('a/a-d');
    const hard = { ...SOFT_NODES, replicaDiskSoftAntiAffinity: false };
    expect(placed({ nodes, existing: three, settings: hard })).toBe(nowhere);
  });

  test('a failed replica that may return holds its disk even when the wait is over', () => {
    const nodes = [aVectorNode('a')];
    const volume = { robustness: 'degraded', lastDegradedAt: '2015-01-01T00:00:00Z' };
    const existing = [on('a', { failedAt: LONG_AGO })];
    expect(placed({ nodes, volume, existing })).toBe('a/a-d');
    expect(placed({ nodes, volume, existing, settings: { replicaDiskSoftAntiAffinity: false } })).toBe(
      nowhere,
    );
  });

  const ONE = [aVectorNode('a', {}, [aVectorDisk('a-d'), aVectorDisk('a-e')])];
  const TWO_IN_ZONE = [aVectorNode('a', { zone: 'z' }), aVectorNode('b', { zone: 'z' })];
  const ONE_DISK = [aVectorNode('a')];
  test.each([
    { field: 'replicaSoftAntiAffinity', nodes: ONE, more: {}, shared: 'a/a-e' },
    { field: 'replicaZoneSoftAntiAffinity', nodes: TWO_IN_ZONE, more: {}, shared: 'b/b-d' },
    {
      field: 'replicaDiskSoftAntiAffinity',
      nodes: ONE_DISK,
      more: { replicaSoftAntiAffinity: true },
      shared: 'a/a-d',
    },
  ])('$field: the volume’s own value stands before the setting', ({ field, nodes, more, shared }) => {
    const ask = (setting: boolean, own: string) =>
      placed({
        nodes,
        existing: [on('a')],
        settings: { ...more, [field]: setting },
        volume: { [field]: own },
      });
    expect(['ignored', '', 'enabled', 'disabled'].map((own) => ask(true, own))).toEqual([
      shared,
      shared,
      shared,
      nowhere,
    ]);
    expect(['ignored', '', 'enabled', 'disabled'].map((own) => ask(false, own))).toEqual([
      nowhere,
      nowhere,
      shared,
      nowhere,
    ]);
  });
});

describe('an occupied node that balancing may use again', () => {
  const under = (part: Json) => [aVectorNode('a', {}, [aVectorDisk('a-d', part), aVectorDisk('a-e')])];
  const ask = (part: Json, percentage: number, autoBalance = 'best-effort') =>
    placed({
      nodes: under(part),
      existing: [on('a')],
      settings: { replicaAutoBalanceDiskPressurePercentage: percentage, replicaAutoBalance: autoBalance },
    });

  test('has a disk of which less than the rest is unused: whole per cent, the reserve taken off', () => {
    expect(ask({ storageAvailable: 10 * GIB }, 90)).toBe('unschedulable (no reason)');
    expect(ask({ storageAvailable: 10 * GIB - 1 }, 90)).toBe('a/a-e');
    expect(ask({ storageAvailable: 10 * GIB, storageReserved: 1 }, 90)).toBe('a/a-e');
  });

  test('whatever the state of that disk, if only the spec has it', () => {
    const closed = { storageAvailable: 0, allowScheduling: false, ready: false, schedulable: false };
    expect(ask(closed, 90)).toBe('a/a-e');
    expect(ask({ ...closed, missingFromSpec: true }, 90)).toBe('unschedulable (no reason)');
  });

  test('not with a pressure of 0 or 100, nor with another balance', () => {
    expect(ask({ storageAvailable: 0 }, 0)).toBe('unschedulable (no reason)');
    expect(ask({ storageAvailable: 0 }, 100)).toBe('unschedulable (no reason)');
    expect(ask({ storageAvailable: 0 }, 90, 'least-effort')).toBe('unschedulable (no reason)');
  });
});

describe('linked clones (sections 3 and 8)', () => {
  const nodes = [aVectorNode('a'), aVectorNode('b')];
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
    const two = [
      aVectorNode('a', {}, [aVectorDisk('a-d', { storageScheduled: 95 * GIB }), aVectorDisk('a-e')]),
    ];
    expect(placed({ nodes: two, volume, sources: [source('a')] })).toBe(
      'unschedulable (insufficient storage)',
    );
  });

  test('a source whose disk is gone leaves its node without a disk', () => {
    const gone = [aVectorNode('a', {}, [aVectorDisk('a-d', { missingFromSpec: true }), aVectorDisk('a-e')])];
    expect(placed({ nodes: gone, volume, sources: [source('a')] })).toBe(
      'unschedulable (disks are unavailable)',
    );
    const onOther = [aVectorNode('a', {}, [aVectorDisk('a-e')]), aVectorNode('b')];
    expect(placed({ nodes: onOther, volume, sources: [source('a')] })).toBe(
      'unschedulable (disks are unavailable)',
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

  test('a source that leaves is enough for one that returns, one on another disk or never whole is not', () => {
    const failed = on('a', { failedAt: LONG_AGO, linkedCloneSrcReplicaName: 'source-a' });
    const beside = (part: Json) =>
      reused({ nodes, volume, existing: [failed], sources: [source('a', part)] });
    expect(beside({ evictionRequested: true })).toBe('reuse on-a, wait 601 s');
    expect(beside({ healthyAt: '' })).toBe('reuse none, wait 601 s');
    expect(beside({ diskId: 'a-e' })).toBe('reuse none, wait 601 s');
    expect(beside({ nodeId: 'b', diskId: 'a-d' })).toBe('reuse none, wait 601 s');
  });

  test('one that lives holds its place, though its source is gone', () => {
    const failed = on('a', { failedAt: LONG_AGO });
    const live = on('a', { name: 'live', linkedCloneSrcReplicaName: 'gone' });
    expect(reused({ nodes, volume, existing: [failed, live], sources: [] })).toBe('reuse none, wait 601 s');
  });
});

describe('data locality', () => {
  const nodes = [
    aVectorNode('a', {}, [aVectorDisk('a-d', { storageAvailable: 50 * GIB })]),
    aVectorNode('b'),
  ];
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

  test('is no reason to leave the best tier, and strict locality is another’s business', () => {
    const inZone = [
      aVectorNode('a', { zone: 'z' }),
      aVectorNode('b', { zone: 'z' }),
      aVectorNode('c', { zone: 'y' }),
    ];
    const attached = { dataLocality: 'best-effort', attachedNodeId: 'a' };
    expect(placed({ nodes: inZone, volume: attached, existing: [on('b')] })).toBe('c/c-d');
    expect(placed({ nodes: inZone.slice(0, 2), volume: attached, existing: [on('b')] })).toBe('a/a-d');
    expect(placed({ nodes, volume: { dataLocality: 'strict-local', attachedNodeId: 'a' } })).toBe('b/b-d');
    expect(placed({ nodes, volume: { ...attached, attachedNodeId: 'nowhere' } })).toBe('b/b-d');
  });
});
