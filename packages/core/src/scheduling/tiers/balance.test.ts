import { asId, compareIds, type DiskId } from '@holdfast/core/model/ids.js';
import { aDisk } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { StorageDisk } from '../../model/node.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import { chooseBalanced } from './balance.js';
import { afterPlacing, type Capacity, hybridScore } from './balance-score.js';
import { totalBytes, usableBytes } from './usable-space.js';

/** Scores this close are equal; the definition itself is summed in another order than the choice. */
const TOLERANCE = 1e-9;

const choose = (disks: StorageDisk[], sizeBytes: number, alpha: number) =>
  chooseBalanced(disks, { sizeBytes, alpha, diskChoice: 'spread' }, HOLDFAST_PROFILE);

const capacityOf = (disk: StorageDisk): Capacity => ({
  usableBytes: Math.max(0, usableBytes(disk, HOLDFAST_PROFILE)),
  totalBytes: totalBytes(disk),
});

const sumOf = (disks: readonly StorageDisk[]): Capacity => {
  const parts = disks.map(capacityOf);
  return {
    usableBytes: parts.reduce((sum, part) => sum + part.usableBytes, 0),
    totalBytes: parts.reduce((sum, part) => sum + part.totalBytes, 0),
  };
};

const diskArbitrary = fc
  .record({
    node: fc.integer({ min: 1, max: 4 }),
    maximum: fc.integer({ min: 10, max: 60 }).map((tens) => tens * 10),
    usedShare: fc.double({ min: 0, max: 1, noNaN: true }),
  })
  .map(({ node, maximum, usedShare }) => ({ node, maximum, scheduled: Math.round(maximum * usedShare) }));

const fleetArbitrary = fc
  .array(diskArbitrary, { minLength: 2, maxLength: 10 })
  .map((parts) =>
    parts.map(({ node, maximum, scheduled }, index) =>
      aDisk(`n${node}`, `d${index}`, { bytes: maximum, storageScheduledBytes: scheduled }),
    ),
  );

describe('chooseBalanced', () => {
  test('agrees with the quadratic definition, for nodes and then for the disks of the chosen node', () => {
    fc.assert(
      fc.property(
        fleetArbitrary,
        fc.integer({ min: 1, max: 150 }),
        fc.constantFrom(0, 0.25, 0.5, 0.75, 1),
        (disks, sizeBytes, alpha) => {
          const fits = (disk: StorageDisk) => usableBytes(disk, HOLDFAST_PROFILE) >= sizeBytes;
          if (!disks.some(fits)) return;
          const chosen = disks.find(({ id }) => id === choose(disks, sizeBytes, alpha));
          const nodeIds = [...new Set(disks.map(({ nodeId }) => nodeId))].sort(compareIds);
          const disksOf = nodeIds.map((nodeId) => disks.filter((disk) => disk.nodeId === nodeId));
          const nodes = optimaByDefinition(
            disksOf.map(sumOf),
            disksOf.map((own) => own.some(fits)),
            sizeBytes,
            alpha,
          );
          expect(nodes.map((index) => nodeIds[index])).toContain(chosen?.nodeId);

          const siblings = disks.filter(({ nodeId }) => nodeId === chosen?.nodeId);
          const best = optimaByDefinition(siblings.map(capacityOf), siblings.map(fits), sizeBytes, alpha);
          expect(best.map((index) => siblings[index]?.id)).toContain(chosen?.id);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test('does not depend on the order of its input', () => {
    fc.assert(
      fc.property(fleetArbitrary, fc.constantFrom(0, 0.5, 1), (disks, alpha) => {
        expect(choose([...disks].reverse(), 20, alpha)).toBe(choose(disks, 20, alpha));
      }),
    );
  });

  test.each([
    {
      name: 'equal scores: the most usable node, then its most usable disk',
      disks: [
        aDisk('n1', 'd1', { bytes: 500 }),
        aDisk('n2', 'd2', { bytes: 200 }),
        aDisk('n2', 'd3', { bytes: 301 }),
      ],
      want: 'd3',
    },
    {
      name: 'equal in everything: the smallest id',
      disks: [aDisk('n2', 'd2', { bytes: 500 }), aDisk('n1', 'd1', { bytes: 500 })],
      want: 'd1',
    },
    {
      name: 'space spread over small disks does not hold a replica',
      disks: [
        aDisk('n1', 'd1', { bytes: 90 }),
        aDisk('n1', 'd2', { bytes: 90 }),
        aDisk('n2', 'd3', { bytes: 100 }),
      ],
      want: 'd3',
    },
    {
      name: 'none holds the size: the least overdrawn',
      disks: [
        aDisk('n1', 'd1', { bytes: 50, storageScheduledBytes: 80 }),
        aDisk('n2', 'd2', { bytes: 50, storageScheduledBytes: 70 }),
      ],
      want: 'd2',
    },
  ])('$name', ({ disks, want }) => {
    expect(choose(disks, 100, 1)).toBe(asId<DiskId>(want));
  });

  test('pack takes the fullest disk that holds the replica, of the node that spread would take', () => {
    const disks = [
      aDisk('n1', 'd1', { bytes: 400 }),
      aDisk('n2', 'd2', { bytes: 300 }),
      aDisk('n2', 'd3', { bytes: 100 }),
      aDisk('n2', 'd4', { bytes: 99 }),
      aDisk('n2', 'd5', { bytes: 100 }),
    ];
    const pack = { sizeBytes: 100, alpha: 1, diskChoice: 'pack' } as const;
    expect(chooseBalanced(disks, pack, HOLDFAST_PROFILE)).toBe('d3');
    expect(chooseBalanced(disks, { ...pack, sizeBytes: 101 }, HOLDFAST_PROFILE)).toBe('d2');
    // Nothing holds it: the rule for overdrawn disks is the same for both choices.
    expect(chooseBalanced(disks, { ...pack, sizeBytes: 500 }, HOLDFAST_PROFILE)).toBe('d1');
  });

  test('written data counts once', () => {
    const half = { bytes: 100, storageAvailableBytes: 60, storageScheduledBytes: 80, writtenBytes: 40 };
    expect(usableBytes(aDisk('n1', 'd1', half), HOLDFAST_PROFILE)).toBe(20);
    expect(usableBytes(aDisk('n1', 'd1', half), { ...HOLDFAST_PROFILE, writtenDataCounts: 'twice' })).toBe(
      -20,
    );
  });
});

/** The options with the lowest score, by the quadratic definition. */
function optimaByDefinition(
  values: Capacity[],
  eligible: boolean[],
  sizeBytes: number,
  alpha: number,
): number[] {
  const scores = values.map((_, index) =>
    eligible[index] ? hybridScore(afterPlacing(values, index, sizeBytes), alpha) : Number.POSITIVE_INFINITY,
  );
  const lowest = Math.min(...scores);
  return scores.flatMap((score, index) => (score <= lowest + TOLERANCE && eligible[index] ? [index] : []));
}
