import { GIB } from '@holdfast/core/model/bytes.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type DiskPart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { Replica } from '../../model/replica.js';
import type { FleetView } from '../../model/views.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import { buildFleetIndex } from '../index/fleet-index.js';
import { assertFleetConsistent, assertFleetIdentities } from './fleet-consistency.js';
import { planPlacements } from './plan-placements.js';

const FLEET = aFleet({ a: { disks: { 'a-1': {}, 'a-2': {} } }, b: { disks: { 'b-1': {} } } });

function problemOf(fleet: FleetView, replicas: Replica[] = []): string | undefined {
  try {
    assertFleetConsistent(fleet, replicas);
    return undefined;
  } catch (error) {
    if (!isFault(error, 'fleet.inconsistent')) throw error;
    return error.message.replace('the fleet is inconsistent: ', '');
  }
}

function withDisk(part: DiskPart): FleetView {
  return { ...FLEET, disks: FLEET.disks.map((disk) => (disk.id === 'a-2' ? { ...disk, ...part } : disk)) };
}

describe('assertFleetConsistent', () => {
  test('a sound fleet with sound replicas passes, one without a place too', () => {
    const unplaced = aReplicaOn('x-1', { nodeId: undefined, diskId: undefined });
    expect(problemOf(FLEET, [aReplicaOn('a-1'), unplaced])).toBeUndefined();
  });

  const [nodeA, nodeB] = FLEET.nodes;
  const [disk1] = FLEET.disks;
  test.each([
    {
      name: 'a node twice',
      fleet: { ...FLEET, nodes: [...FLEET.nodes, ...FLEET.nodes.slice(1)] },
      want: 'node b is there twice',
    },
    {
      name: 'a node twice, by two names',
      fleet: { ...FLEET, nodes: [...FLEET.nodes, ...(nodeA ? [{ ...nodeA, name: 'c' }] : [])] },
      want: 'node c (a) is there twice',
    },
    {
      name: 'two nodes of one name',
      fleet: { ...FLEET, nodes: [...FLEET.nodes, ...(nodeA ? [{ ...nodeA, id: asId<NodeId>('c') }] : [])] },
      want: 'node a (c) is there twice',
    },
    {
      name: 'a disk twice',
      fleet: { ...FLEET, disks: [...FLEET.disks, ...FLEET.disks.slice(2)] },
      want: 'disk b-1 is there twice',
    },
    {
      name: 'a disk twice, on two nodes',
      fleet: {
        ...FLEET,
        disks: [...FLEET.disks, ...(disk1 && nodeB ? [{ ...disk1, nodeId: nodeB.id }] : [])],
      },
      want: 'disk a-1 is there twice',
    },
    {
      name: 'a disk on an unknown node',
      fleet: { ...FLEET, nodes: FLEET.nodes.slice(0, 1) },
      want: 'disk b-1 is on node b, which the fleet does not have',
    },
    {
      name: 'negative bytes',
      fleet: withDisk({ storageMaximumBytes: -1 }),
      want: 'disk a-2 has storageMaximumBytes -1: not a whole number of bytes',
    },
    {
      name: 'fractional bytes',
      fleet: withDisk({ storageAvailableBytes: GIB + 0.5 }),
      want: `disk a-2 has storageAvailableBytes ${GIB + 0.5}: not a whole number of bytes`,
    },
    {
      name: 'NaN bytes',
      fleet: withDisk({ storageReservedBytes: Number.NaN }),
      want: 'disk a-2 has storageReservedBytes NaN: not a whole number of bytes',
    },
    {
      name: 'infinite bookings',
      fleet: withDisk({ storageScheduledBytes: Number.POSITIVE_INFINITY }),
      want: 'disk a-2 has storageScheduledBytes Infinity: not a whole number of bytes',
    },
    {
      name: 'more bytes than are exact',
      fleet: withDisk({ writtenBytes: 2 ** 53 }),
      want: `disk a-2 has writtenBytes ${2 ** 53}: not a whole number of bytes`,
    },
  ])('finds $name', ({ fleet, want }) => {
    expect(problemOf(fleet)).toBe(want);
  });

  test.each<{ name: string; part: Partial<Replica>; want: string }>([
    {
      name: 'on an unknown disk',
      part: { diskId: asId<DiskId>('z') },
      want: 'replica r is on disk z, which the fleet does not have',
    },
    {
      name: 'on an unknown node',
      part: { nodeId: asId<NodeId>('z') },
      want: 'replica r is on node z, which the fleet does not have',
    },
    {
      name: 'on the disk of another node',
      part: { nodeId: asId<NodeId>('b') },
      want: 'replica r is on node b, and its disk a-1 on node a',
    },
    {
      name: 'on a disk and on no node',
      part: { nodeId: undefined },
      want: 'replica r is on disk a-1 and on no node',
    },
    {
      name: 'of a fractional size',
      part: { sizeBytes: 0.5 },
      want: 'replica r has sizeBytes 0.5: not a whole number of bytes',
    },
    {
      name: 'with negative data',
      part: { writtenBytes: -1 },
      want: 'replica r has writtenBytes -1: not a whole number of bytes',
    },
  ])('finds a replica $name', ({ part, want }) => {
    expect(problemOf(FLEET, [aReplicaOn('a-1', { id: asId('r'), ...part })])).toBe(want);
  });

  test("another scheduler's figures are its own affair, its names are not", () => {
    expect(() => assertFleetIdentities(withDisk({ storageAvailableBytes: -1 }))).not.toThrow();
    expect(() => assertFleetIdentities({ ...FLEET, disks: [...FLEET.disks, ...FLEET.disks] })).toThrow(
      'disk a-1 is there twice',
    );
  });

  test('names a few and counts the rest', () => {
    const disks = FLEET.disks.map((disk) => ({ ...disk, storageMaximumBytes: -1, storageReservedBytes: -1 }));
    expect(problemOf({ ...FLEET, disks })).toMatch(/^disk a-1 has storageMaximumBytes -1.*; and 1 more$/);
  });
});

describe('nothing is placed on a fleet that is broken', () => {
  const broken = withDisk({ storageScheduledBytes: -1 });
  const placeable = { spec: A_SPEC, writtenBytes: 0, lifecycle: DETACHED };
  const unplaced = aReplicaOn('x-1', { nodeId: undefined, diskId: undefined });

  test('by the linear plan, not even for a replica of the volume alone', () => {
    expect(() => planPlacements(placeable, [], [unplaced], broken, NOON)).toThrow('disk a-2 has');
    const stray = aReplicaOn('z-1', { id: asId('r') });
    expect(() => planPlacements(placeable, [stray], [unplaced], FLEET, NOON)).toThrow(
      'replica r is on node z',
    );
  });

  test('by an index', () => {
    expect(() => buildFleetIndex(broken)).toThrow('disk a-2 has');
  });
});
