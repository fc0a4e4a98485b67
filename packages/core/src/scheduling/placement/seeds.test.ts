/**
 * The worked examples and test plans of the seed documents, with their numbers: the scheduling page (000, 001), the
 * balance proposal (002) and the disk anti-affinity proposal (003). The rebuilding page (004) has no placement in it.
 */
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { A_SPEC, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart, outcomeOf } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { FleetView } from '../../model/views.js';
import type { VolumeSpec } from '../../model/volume.js';
import { DETACHED } from '../../model/volume-lifecycle.js';
import type { PlacementRequest } from '../framework/placement-request.js';
import { afterPlacing, balanceScore, hybridScore } from '../tiers/balance-score.js';
import { placeReplica } from './place-replica.js';
import { planPlacements, withBooking } from './plan-placements.js';

const GB = 1_000_000_000;

const place = (fleet: FleetView, request: Partial<PlacementRequest> = {}) =>
  outcomeOf(placeReplica(aRequest(request), fleet, NOON));

describe('the scheduling page: node A with disks X and Y', () => {
  const nodes = (parts: { x?: object; y?: object } = {}): Record<string, NodePart> => ({
    A: {
      disks: {
        'A-X': { storageAvailableBytes: GB, storageMaximumBytes: 4 * GB, ...parts.x },
        'A-Y': {
          storageAvailableBytes: 2 * GB,
          storageMaximumBytes: 8 * GB,
          storageReservedBytes: GB,
          storageScheduledBytes: 2 * GB,
          ...parts.y,
        },
      },
    },
  });
  /** Stage 1 judges disks with size and actual size 0. */
  const judged = (disk: string, minimalAvailable: number) => {
    const fleet = aFleet(nodes(), { 'storage-minimal-available-percentage': minimalAvailable });
    const only = { ...fleet, disks: fleet.disks.filter(({ id }) => id === disk) };
    return place(only, { sizeBytes: 0 });
  };

  test.each([
    {
      disk: 'A-X',
      minimalAvailable: 25,
      want: 'InsufficientFreeSpace',
      why: '1 GB is not greater than 1 GB',
    },
    { disk: 'A-X', minimalAvailable: 24, want: 'A-X', why: 'any lower share will do, not only 0' },
    { disk: 'A-X', minimalAvailable: 0, want: 'A-X', why: 'as the page says' },
    {
      disk: 'A-Y',
      minimalAvailable: 10,
      want: 'A-Y',
      why: '2 GB is greater than 0.8 GB, and 2 GB is within 7 GB',
    },
    {
      disk: 'A-Y',
      minimalAvailable: 25,
      want: 'InsufficientFreeSpace',
      why: 'at the default 2 GB is not greater than 2 GB',
    },
  ])('$disk at $minimalAvailable %: $why', ({ disk, minimalAvailable, want }) => {
    expect(judged(disk, minimalAvailable)).toBe(want);
  });

  test('the scheduling space of Y ends at 7 GB', () => {
    const fleet = aFleet(nodes({ x: { allowScheduling: false } }), {
      'storage-minimal-available-percentage': 10,
    });
    expect(place(fleet, { sizeBytes: 5 * GB })).toBe('A-Y');
    expect(place(fleet, { sizeBytes: 5 * GB + 1 })).toContain('InsufficientProvisionableSpace');
  });

  describe('stage 2: X already holds a replica of the volume', () => {
    const replicas = [aReplicaOn('A-X')];
    const settings = { 'storage-minimal-available-percentage': 10 };
    const soft = { replicas, nodeAntiAffinity: 'preferred', diskAntiAffinity: 'preferred' } as const;
    const hard = { ...soft, diskAntiAffinity: 'required' } as const;
    const request = { sizeBytes: GB };

    test('both rules take Y', () => {
      const fleet = aFleet(nodes(), settings);
      expect(place(fleet, { ...request, ...hard })).toBe('A-Y');
      expect(place(fleet, { ...request, ...soft })).toBe('A-Y');
    });

    test('when Y has the wrong tags, hard fails and soft shares X', () => {
      const fleet = aFleet(nodes({ x: { tags: ['ssd'] } }), settings);
      expect(place(fleet, { ...request, ...hard, diskSelector: ['ssd'] })).toBe(
        'DiskOccupied DiskTagsMissing',
      );
      expect(place(fleet, { ...request, ...soft, diskSelector: ['ssd'] })).toBe('A-X');
    });
  });
});

describe('the scheduling page: the table of nodes and zones', () => {
  const zones = (names: Record<string, string>): Record<string, NodePart> =>
    Object.fromEntries(Object.entries(names).map(([name, zone]) => [name, { zone }]));
  const replicas = [aReplicaOn('n1-disk')];
  test.each([
    {
      scenario: 'new node in new zone',
      nodes: { n1: 'z1', n2: 'z2' },
      want: ['n2-disk', 'n2-disk', 'n2-disk'],
    },
    {
      scenario: 'new node in existing zone',
      nodes: { n1: 'z1', n2: 'z1' },
      want: ['refused', 'n2-disk', 'n2-disk'],
    },
    {
      scenario: 'existing node in existing zone',
      nodes: { n1: 'z1' },
      want: ['refused', 'refused', 'n1-disk'],
    },
  ])('$scenario', ({ nodes, want }) => {
    const flags = [
      { zoneAntiAffinity: 'required', nodeAntiAffinity: 'required' },
      { zoneAntiAffinity: 'preferred', nodeAntiAffinity: 'required' },
      { zoneAntiAffinity: 'preferred', nodeAntiAffinity: 'preferred' },
    ] as const;
    const got = flags.map((flag) => {
      const placement = placeReplica(aRequest({ replicas, ...flag }), aFleet(zones(nodes)), NOON);
      return placement.kind === 'placed' ? placement.diskId : 'refused';
    });
    expect(got).toEqual(want);
  });
});

describe('the balance proposal', () => {
  const USABLE = { 'A-1': 900, 'A-2': 100, 'B-1': 600, 'B-2': 700 };
  const TOTAL = { 'A-1': 1000, 'A-2': 200, 'B-1': 800, 'B-2': 1000 };
  const capacities = (names: (keyof typeof USABLE)[]) =>
    names.map((name) => ({ usableBytes: USABLE[name], totalBytes: TOTAL[name] }));
  const scenario = (alpha: number) => {
    const disk = (name: keyof typeof USABLE) => ({
      storageMaximumBytes: TOTAL[name] * GIB,
      storageAvailableBytes: TOTAL[name] * GIB,
      storageScheduledBytes: (TOTAL[name] - USABLE[name]) * GIB,
    });
    return aFleet(
      {
        A: { disks: { 'A-1': disk('A-1'), 'A-2': disk('A-2') } },
        B: { disks: { 'B-1': disk('B-1'), 'B-2': disk('B-2') } },
      },
      { 'balance-alpha': alpha },
    );
  };

  test('scenario 1: the scores of the nodes', () => {
    expect(balanceScore([900, 1300])).toBeCloseTo(0.364, 3);
    expect(balanceScore([1000, 1200])).toBeCloseTo(0.182, 3);
  });

  test('scenario 1: the scores of the disks of node B', () => {
    expect(balanceScore([500, 700])).toBeCloseTo(0.333, 3);
    expect(balanceScore([600, 600])).toBe(0);
  });

  test.each([
    { alpha: 1, b1: 1.455, b2: 1.455 },
    { alpha: 0, b1: 0.587, b2: 0.582 },
    { alpha: 0.5, b1: 1.021, b2: 1.018 },
  ])('scenario 2: the scores of all four disks at α=$alpha', ({ alpha, b1, b2 }) => {
    const disks = capacities(['A-1', 'A-2', 'B-1', 'B-2']);
    expect(hybridScore(afterPlacing(disks, 2, 100), alpha)).toBeCloseTo(b1, 3);
    expect(hybridScore(afterPlacing(disks, 3, 100), alpha)).toBeCloseTo(b2, 3);
  });

  test.each([
    { alpha: 1, want: 'B-2' },
    { alpha: 0.5, want: 'A-1' },
    { alpha: 0, want: 'A-1' },
  ])('end to end at α=$alpha: $want', ({ alpha, want }) => {
    expect(place(scenario(alpha), { sizeBytes: 100 * GIB })).toBe(want);
  });

  test.each([
    { alpha: 1, want: '40 40 25 40' },
    { alpha: 0.5, want: '40 40 25 40' },
    { alpha: 0, want: '40 25 40 25' },
  ])('the test plan at α=$alpha: four volumes of 8 GiB go to $want', ({ alpha, want }) => {
    for (const layout of [
      { n1: { disks: { 40: { bytes: 40 * GIB } } }, n2: { disks: { 25: { bytes: 25 * GIB } } } },
      { n1: { disks: { 40: { bytes: 40 * GIB }, 25: { bytes: 25 * GIB } } } },
    ]) {
      let fleet = aFleet(layout, { 'balance-alpha': alpha });
      const got: string[] = [];
      for (let volume = 0; volume < 4; volume += 1) {
        const placement = placeReplica(aRequest({ sizeBytes: 8 * GIB }), fleet, NOON);
        if (placement.kind === 'refused') break;
        got.push(placement.diskId);
        fleet = withBooking(fleet, placement.diskId, 8 * GIB);
      }
      expect(got.join(' ')).toBe(want);
    }
  });
});

describe('the disk anti-affinity proposal: test plan', () => {
  /** One disk has so much space that the old rule would put two replicas on it. */
  const fleet = aFleet({
    n1: { disks: { 'n1-a': { bytes: 900 * GIB }, 'n1-b': {} } },
    n2: { disks: { 'n2-a': {}, 'n2-b': {} } },
  });
  const spec = (part: Partial<VolumeSpec>): VolumeSpec => ({
    ...A_SPEC,
    replicaSoftAntiAffinity: 'enabled',
    ...part,
  });
  const unplaced = (count: number): Replica[] =>
    Array.from({ length: count }, (_, index) =>
      aReplicaOn('none-', { id: asId<ReplicaId>(`r${index}`), nodeId: undefined, diskId: undefined }),
    );
  const planFor = (part: Partial<VolumeSpec>, count: number) => {
    const volume = { spec: spec(part), writtenBytes: 0, lifecycle: DETACHED };
    return planPlacements(volume, [], unplaced(count), fleet, NOON);
  };

  test('soft: as many replicas as disks go to a different disk each', () => {
    const { placements } = planFor({ replicaDiskSoftAntiAffinity: 'enabled' }, 4);
    expect(placements.map(({ booking }) => booking.diskId).sort()).toEqual(['n1-a', 'n1-b', 'n2-a', 'n2-b']);
  });

  test('hard: one replica more than disks fails, the others have their place', () => {
    const { placements, refusals } = planFor({ replicaDiskSoftAntiAffinity: 'disabled' }, 5);
    expect(placements).toHaveLength(4);
    expect(refusals?.map(({ rejection }) => rejection.reason)).toEqual(Array(4).fill('DiskOccupied'));
  });

  test('the volume decides before the setting, and ignored inherits it', () => {
    expect(planFor({ replicaDiskSoftAntiAffinity: 'ignored' }, 5).placements).toHaveLength(5);
  });
});
