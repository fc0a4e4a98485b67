import { describe, expect, test } from '@jest/globals';
import { fitsBelowPressure, isUnderPressure } from './disk-pressure.js';

const DISK = {
  storageMaximumBytes: 1000,
  storageAvailableBytes: 1000,
  storageReservedBytes: 0,
  storageScheduledBytes: 0,
};
const LIMITS = { overProvisioningPercentage: 100, minimalAvailablePercentage: 0 };

describe('a disk is under pressure', () => {
  test.each([
    { name: 'with less than the rest unused', disk: { storageAvailableBytes: 99 }, at: 90, want: true },
    { name: 'not with exactly the rest', disk: { storageAvailableBytes: 100 }, at: 90, want: false },
    { name: 'by whole per cent: 19.9 are 19', disk: { storageAvailableBytes: 199 }, at: 81, want: false },
    { name: 'by what the reserve leaves', disk: { storageReservedBytes: 901 }, at: 90, want: true },
    { name: 'where the reserve leaves nothing', disk: { storageReservedBytes: 2000 }, at: 99, want: true },
    { name: 'never at 100', disk: { storageAvailableBytes: 0 }, at: 100, want: false },
    {
      name: 'not where all of one byte is unused',
      disk: { storageMaximumBytes: 1, storageAvailableBytes: 1 },
      at: 90,
      want: false,
    },
    { name: 'where it has no size', disk: { storageMaximumBytes: 0 }, at: 90, want: true },
    {
      name: 'by an exact share of 2^53 bytes',
      disk: { storageMaximumBytes: 2 ** 53 - 1, storageAvailableBytes: (2 ** 53 - 2) / 10 },
      at: 90,
      want: true,
    },
  ])('$name', ({ disk, at, want }) => {
    expect(isUnderPressure({ ...DISK, ...disk }, at)).toBe(want);
  });
});

describe('a disk takes a replica without coming under pressure', () => {
  const demand = { sizeBytes: 10, writtenBytes: 100 };
  test.each([
    { name: 'below the percentage', disk: { storageScheduledBytes: 799 }, want: true },
    {
      name: 'not at it: what is written, booked and reserved counts',
      disk: { storageScheduledBytes: 800 },
      want: false,
    },
    {
      name: 'not at it by its reserve',
      disk: { storageScheduledBytes: 700, storageReservedBytes: 100 },
      want: false,
    },
    { name: 'not where the space check fails', disk: { storageAvailableBytes: 100 }, want: false },
    { name: 'not where it has no size', disk: { storageMaximumBytes: 0 }, want: false },
  ])('$name', ({ disk, want }) => {
    expect(fitsBelowPressure({ ...DISK, ...disk }, demand, LIMITS, 90)).toBe(want);
  });

  test('whatever its size, at a percentage that is never reached', () => {
    expect(fitsBelowPressure(DISK, { sizeBytes: 1000, writtenBytes: 0 }, LIMITS, 1)).toBe(true);
  });
});
