/** Which failed replica Longhorn takes back, and how long it waits (docs/longhorn-rules.md), by the text. */
import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import {
  aVectorDisk,
  aVectorNode,
  type Json,
  LONG_AGO,
  on,
  reused,
} from '@holdfast/testkit/vector-builder.js';
import { describe, expect, test } from '@jest/globals';

describe('reuse of a failed replica', () => {
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
    expect(reused({ nodes: [aVectorNode('a', {}, [aVectorDisk('a-d', disk)])], existing: [failed] })).toBe(
      `reuse ${want}, wait 601 s`,
    );
  });

  test.each([
    { name: 'its disk lacks the tag', node: {}, volume: { diskSelector: ['ssd'] }, want: 'none' },
    { name: 'its node lacks the tag', node: {}, volume: { nodeSelector: ['ssd'] }, want: 'none' },
    { name: 'its node is being deleted', node: { deleting: true }, volume: {}, want: 'none' },
    { name: 'its node takes no replicas', node: { allowScheduling: false }, volume: {}, want: 'none' },
    { name: 'its engine is not there', node: { instanceManagerState: 'stopped' }, volume: {}, want: 'none' },
    { name: 'its node is down', node: { ready: false }, volume: {}, want: 'none' },
    { name: 'its node is cordoned', node: { schedulable: false }, volume: {}, want: 'none' },
    { name: 'its engine image is not there', node: { engineImageReady: false }, volume: {}, want: 'none' },
    { name: 'a node in eviction is no matter', node: { evictionRequested: true }, volume: {}, want: 'on-a' },
    {
      name: 'the image may not go to its disk',
      node: {},
      volume: { backingImage: { nodeSelector: [], diskSelector: ['ssd'] } },
      want: 'none',
    },
    {
      name: 'the image may not go to its node',
      node: {},
      volume: { backingImage: { nodeSelector: ['ssd'], diskSelector: [] } },
      want: 'none',
    },
    {
      name: 'the topology is no matter',
      node: {},
      volume: { topologyRequirement: [{ zone: 'z' }] },
      want: 'on-a',
    },
    { name: 'its size is no matter', node: {}, volume: { size: 200 * GIB }, want: 'on-a' },
  ])('$name: $want', ({ node, volume, want }) => {
    expect(reused({ nodes: [aVectorNode('a', node)], existing: [failed], volume })).toBe(
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
    expect(reused({ nodes: [aVectorNode('a')], existing: [on('a', { failedAt: LONG_AGO, ...part })] })).toBe(
      want,
    );
  });

  test('a healthy one in the zone does not keep it out, a healthy one on its node does', () => {
    const nodes = [aVectorNode('a', { zone: 'z' }), aVectorNode('b', { zone: 'z' })];
    const settings = { replicaZoneSoftAntiAffinity: false };
    expect(reused({ nodes, settings, existing: [failed, on('b')] })).toBe('reuse on-a, wait 601 s');
    expect(reused({ nodes, existing: [failed, on('a', { name: 'live' })] })).toBe('reuse none, wait 601 s');
  });

  test('a file that its file system can not hold keeps it out', () => {
    const nodes = [aVectorNode('a', {}, [aVectorDisk('a-d', { fsType: 'ext4' })])];
    expect(reused({ nodes, existing: [failed], volume: { size: 16 * TIB } })).toBe('reuse none, wait 601 s');
  });

  test('one whose node or disk is unknown stays away', () => {
    const nodes = [aVectorNode('a')];
    const lost = [on('z', { failedAt: LONG_AGO }), on('a', { failedAt: LONG_AGO, diskId: 'a-x' })];
    expect(reused({ nodes, existing: lost })).toBe('reuse none, wait 601 s');
  });

  test('Ready is asked for as well, whatever a stale Schedulable says', () => {
    const stale = aVectorDisk('a-d', { ready: false, schedulable: true });
    expect(reused({ nodes: [aVectorNode('a', {}, [stale])], existing: [failed] })).toBe(
      'reuse none, wait 601 s',
    );
  });

  test('of two on a node the one whose disk suits the volume', () => {
    const disks = [aVectorDisk('a-d', { type: 'block' }), aVectorDisk('a-e'), aVectorDisk('a-f')];
    const existing = [
      on('a', { failedAt: '2015-01-01T12:00:00Z' }),
      on('a', { name: 'other', diskId: 'a-e', failedAt: LONG_AGO }),
    ];
    expect(reused({ nodes: [aVectorNode('a', {}, disks)], existing })).toBe('reuse other, wait 601 s');
  });

  test('a live one on its disk keeps it out where disks are hard, one that leaves its node does not', () => {
    const nodes = [aVectorNode('a')];
    const live = on('a', { name: 'live' });
    const settings = { replicaSoftAntiAffinity: true };
    expect(reused({ nodes, settings, existing: [failed, live] })).toBe('reuse on-a, wait 601 s');
    const hard = { ...settings, replicaDiskSoftAntiAffinity: false };
    expect(reused({ nodes, settings: hard, existing: [failed, live] })).toBe('reuse none, wait 601 s');
    // Another disk of the node is no candidate: nothing failed lies there.
    const two = [aVectorNode('a', {}, [aVectorDisk('a-d'), aVectorDisk('a-e')])];
    expect(reused({ nodes: two, settings, existing: [failed, live] })).toBe('reuse on-a, wait 601 s');
    const leaving = on('a', { name: 'leaving', evictionRequested: true });
    expect(reused({ nodes, existing: [failed, leaving] })).toBe('reuse on-a, wait 601 s');
  });

  test('nothing is brought up to date on a full disk, nor on one of no size', () => {
    const pressed = (part: Json) =>
      aVectorDisk('a-d', { schedulable: false, schedulableReason: 'DiskPressure', ...part });
    const settings = { storageMinimalAvailablePercentage: 0 };
    for (const part of [{ storageAvailable: 0 }, { storageMaximum: 0 }]) {
      const nodes = [aVectorNode('a', {}, [pressed(part)])];
      expect(reused({ nodes, settings, existing: [failed] })).toBe('reuse none, wait 601 s');
    }
  });

  test('the last to fail returns first; of equals any', () => {
    const nodes = [aVectorNode('a'), aVectorNode('b')];
    expect(reused({ nodes, existing: [failed, on('b', { failedAt: '2015-01-01T00:00:01Z' })] })).toBe(
      'reuse on-b, wait 601 s',
    );
    expect(reused({ nodes, existing: [failed, on('b', { failedAt: LONG_AGO })] })).toBe(
      'reuse on-a or on-b, wait 601 s',
    );
  });

  test('v2 takes none back and waits for none without the fast rebuild; v1 does not mind', () => {
    const v2 = { dataEngine: 'v2' };
    const nodes = [aVectorNode('a', {}, [aVectorDisk('a-d', { type: 'block' })])];
    expect(reused({ nodes, volume: v2, existing: [failed] })).toBe('reuse on-a, wait 601 s');
    expect(
      reused({ nodes, volume: v2, existing: [failed], settings: { fastReplicaRebuildEnabledV2: false } }),
    ).toBe('reuse none, wait 0 s');
    expect(
      reused({
        nodes: [aVectorNode('a')],
        existing: [failed],
        settings: { fastReplicaRebuildEnabledV1: false },
      }),
    ).toBe('reuse on-a, wait 601 s');
  });

  test('a new one waits for the whole interval and a second, and at its very end no more', () => {
    const nodes = [aVectorNode('a')];
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
