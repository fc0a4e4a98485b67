import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type DiskPart, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { DrainPolicy, NodeDrain } from '../model/node-drain.js';
import type { SettingName } from '../model/setting.js';
import type { VolumeSpec } from '../model/volume.js';
import type { SettingValue } from '../settings/effective.js';
import { checkGrowth, checkPlacement, type PlacementEvent } from './placement-invariants.js';

type Planted = {
  node?: NodePart;
  disk?: DiskPart;
  spec?: Partial<VolumeSpec>;
  settings?: Partial<Record<SettingName, SettingValue>>;
  event?: Partial<PlacementEvent>;
  /** Replicas planted on other nodes and disks. */
  others?: { a?: NodePart; b?: NodePart };
};

const BOOKING = { diskId: asId<DiskId>('a-1'), sizeBytes: GIB, limitBytes: 100 * GIB, ifSettingsVersion: 1 };

function aDrain(policy: DrainPolicy): NodeDrain {
  return { policy, requestedAt: NOON, wasCordoned: false };
}

/** One GiB on a-1, without violations except the planted ones. */
function findings({ node, disk, spec, settings, event, others = {} }: Planted = {}): string[] {
  const nodes = {
    a: { zone: 'east', ...node, disks: { 'a-1': { ...disk }, 'a-2': {}, ...others.a?.disks } },
    b: { zone: 'east', disks: { 'b-1': {} }, ...others.b },
    c: { zone: 'west', disks: { 'c-1': {} } },
  };
  return checkPlacement({
    fleet: aFleet(nodes, settings),
    volume: { name: 'v', spec: { ...A_SPEC, ...spec } },
    others: [],
    nodeId: asId<NodeId>('a'),
    booking: BOOKING,
    now: NOON,
    ...event,
  });
}

const HARD_ZONES = { replicaZoneSoftAntiAffinity: 'disabled' } as const;
const SOFT_NODES = { replicaSoftAntiAffinity: 'enabled' } as const;
const HARD_DISKS = { ...SOFT_NODES, replicaDiskSoftAntiAffinity: 'disabled' } as const;
const EARLIER = new Date(NOON.getTime() - 600_000);

describe('checkPlacement', () => {
  test('a sound placement has no finding, up to the last byte of the limit', () => {
    expect(findings()).toEqual([]);
    expect(findings({ disk: { storageScheduledBytes: 99 * GIB } })).toEqual([]);
  });

  test.each<Planted & { name: string; want: string }>([
    { name: 'no booking', event: { booking: undefined }, want: 'without a booking' },
    {
      name: 'a disk of another node',
      event: { nodeId: asId<NodeId>('b') },
      want: 'which the fleet does not have',
    },
    { name: 'one byte past the limit', disk: { storageScheduledBytes: 99 * GIB + 1 }, want: 'its limit is' },
    {
      name: 'a limit that was lowered',
      settings: { 'storage-over-provisioning-percentage': 50 },
      want: 'in force is',
    },
    {
      name: 'one byte of the reserve',
      disk: { storageReservedBytes: 10 * GIB, storageScheduledBytes: 89 * GIB + 1 },
      event: { booking: { ...BOOKING, limitBytes: 90 * GIB } },
      want: 'its limit is',
    },
    {
      name: 'a node without a row',
      event: { nodeId: asId<NodeId>('z') },
      want: 'which the fleet does not have',
    },
    {
      name: 'a disk without a row',
      event: { booking: { ...BOOKING, diskId: asId<DiskId>('a-9') } },
      want: 'which the fleet does not have',
    },
    { name: 'a cordoned node', node: { cordoned: true }, want: 'that is cordoned' },
    {
      name: 'a drained node',
      node: { drain: { policy: 'always-allow', requestedAt: NOON, wasCordoned: false } },
      want: 'that is drained',
    },
    {
      name: 'a node in maintenance',
      node: { maintenance: { until: NOON, reason: '' } },
      want: 'that is in maintenance',
    },
    { name: 'an evicting node', node: { evictionRequested: true }, want: 'that is being emptied' },
    { name: 'a closed node', node: { allowScheduling: false }, want: 'whose scheduling is off' },
    { name: 'an evicting disk', disk: { evictionRequested: true }, want: 'the disk is being emptied' },
    { name: 'a closed disk', disk: { allowScheduling: false }, want: "disk's scheduling is off" },
    { name: 'a node without the tag', spec: { nodeSelector: ['ssd'] }, want: 'node selector [ssd]' },
    {
      name: 'a node with one of two tags',
      node: { tags: ['ssd'] },
      spec: { nodeSelector: ['ssd', 'fast'] },
      want: 'node selector [ssd, fast]',
    },
    { name: 'a disk without the tag', spec: { diskSelector: ['ssd'] }, want: 'disk selector [ssd]' },
    {
      name: 'a disk kept for others',
      disk: { tags: ['ssd'] },
      settings: { 'allow-empty-disk-selector-volume': false },
      want: 'disk selector []',
    },
    {
      name: 'a node kept for others',
      node: { tags: ['ssd'] },
      settings: { 'allow-empty-node-selector-volume': false },
      want: 'node selector []',
    },
    {
      name: 'a second one on a node',
      event: { others: [aReplicaOn('a-2')] },
      want: 'the node holds another',
    },
    {
      name: 'a second one in a zone',
      spec: HARD_ZONES,
      event: { others: [aReplicaOn('b-1')] },
      want: 'its zone holds another',
    },
    {
      name: 'a second one on a disk',
      spec: HARD_DISKS,
      event: { others: [aReplicaOn('a-1')] },
      want: 'the disk holds another',
    },
    {
      name: 'a second one in a zone, beside one in another',
      spec: HARD_ZONES,
      event: { others: [aReplicaOn('c-1'), aReplicaOn('b-1')] },
      want: 'its zone holds another',
    },
    {
      name: 'the zone of a copy that a sparing drain leaves',
      spec: HARD_ZONES,
      others: { b: { drain: aDrain('block-for-eviction-if-contains-last-replica') } },
      event: { others: [aReplicaOn('b-1'), aReplicaOn('c-1')] },
      want: 'its zone holds another',
    },
    {
      name: 'the zone of a copy whose drain moves none',
      spec: HARD_ZONES,
      others: { b: { drain: aDrain('allow-if-replica-is-stopped') } },
      event: { others: [aReplicaOn('b-1')] },
      want: 'its zone holds another',
    },
    {
      name: 'a second one on a disk, beside one on another',
      spec: HARD_DISKS,
      event: { others: [aReplicaOn('c-1'), aReplicaOn('a-1')] },
      want: 'the disk holds another',
    },
    {
      name: 'the disk of one that failed long ago and may return',
      spec: HARD_DISKS,
      event: { others: [aReplicaOn('a-1', { failedAt: EARLIER })] },
      want: 'the disk holds another',
    },
    {
      name: 'the place of one that is waited for, to its last second',
      event: { others: [aReplicaOn('a-2', { failedAt: new Date(EARLIER.getTime() + 1000) })] },
      want: 'the node holds another',
    },
    {
      name: 'the place of one that may return',
      event: { others: [aReplicaOn('a-2', { failedAt: NOON })] },
      want: 'the node holds another',
    },
  ])('a finding is: $name', ({ want, ...planted }) => {
    const found = findings(planted);
    expect(found.join('; ')).toContain(want);
    expect(found).toHaveLength(1);
  });

  test.each<Planted & { name: string }>([
    {
      name: 'a cordon that the setting disregards',
      node: { cordoned: true },
      settings: { 'disable-scheduling-on-cordoned-node': false },
    },
    { name: 'a shared node where it may be', spec: SOFT_NODES, event: { others: [aReplicaOn('a-2')] } },
    { name: 'a shared zone where it may be', event: { others: [aReplicaOn('b-1')] } },
    { name: 'another zone', spec: HARD_ZONES, event: { others: [aReplicaOn('c-1')] } },
    {
      name: 'the place of one that is being evicted',
      event: { others: [aReplicaOn('a-2', { intent: 'evict' })] },
    },
    {
      name: 'a shared disk where it may be',
      spec: SOFT_NODES,
      event: { others: [aReplicaOn('a-1')] },
    },
    {
      name: 'the disk of one that can not return',
      spec: HARD_DISKS,
      event: { others: [aReplicaOn('a-1', { failedAt: NOON, rebuildRetryCount: 5 })] },
    },
    {
      name: 'a node without tags where tagged ones are kept',
      settings: { 'allow-empty-node-selector-volume': false, 'allow-empty-disk-selector-volume': false },
    },
    {
      name: 'the zone of a node that is being emptied',
      spec: HARD_ZONES,
      others: { b: { evictionRequested: true } },
      event: { others: [aReplicaOn('b-1')] },
    },
    {
      name: 'the zone of a node that is drained',
      spec: HARD_ZONES,
      others: { b: { drain: aDrain('block-for-eviction') } },
      event: { others: [aReplicaOn('b-1')] },
    },
    {
      name: 'the zone of the last copy, which a sparing drain moves',
      spec: HARD_ZONES,
      others: { b: { drain: aDrain('block-for-eviction-if-contains-last-replica') } },
      event: { others: [aReplicaOn('b-1')] },
    },
    {
      name: 'the node of a disk that is being emptied',
      others: { a: { disks: { 'a-2': { evictionRequested: true } } } },
      event: { others: [aReplicaOn('a-2')] },
    },
    {
      name: 'the place of one that is waited for no more',
      event: { others: [aReplicaOn('a-2', { failedAt: EARLIER })] },
    },
  ])('no finding is: $name', ({ ...planted }) => {
    expect(findings(planted)).toEqual([]);
  });
});

describe('checkGrowth', () => {
  const growth = (growthBytes: number, { diskId = 'a-1', volumeBytes = GIB } = {}) =>
    checkGrowth({
      fleet: aFleet({ a: { disks: { 'a-1': { storageScheduledBytes: 90 * GIB } } } }),
      volume: { name: 'v', spec: { sizeBytes: volumeBytes } },
      sizeBytes: GIB + growthBytes,
      booking: { ...BOOKING, diskId: asId<DiskId>(diskId), sizeBytes: growthBytes },
    });

  test.each([
    { name: 'up to the limit', bytes: 10 * GIB, want: [] },
    { name: 'past the limit', bytes: 10 * GIB + 1, want: [expect.stringContaining('its limit is')] },
    { name: 'what is given back', bytes: -GIB, want: [] },
  ])('judges what is booked by the limit of its disk: $name', ({ bytes, want }) => {
    expect(growth(bytes)).toEqual(want);
  });

  test('lets what the copies of a volume have already be booked past the limit', () => {
    expect(growth(20 * GIB, { volumeBytes: 21 * GIB })).toEqual([]);
    expect(growth(20 * GIB, { volumeBytes: 20 * GIB })).not.toEqual([]);
  });

  test('names a disk that is not there', () => {
    expect(growth(GIB, { diskId: 'a-9' })).toEqual([
      expect.stringContaining('which the fleet does not have'),
    ]);
  });
});
