import { describe, expect, test } from '@jest/globals';
import { fitsExpansion, survivesGrowth } from './expansion.js';

const DISK = {
  storageMaximumBytes: 100,
  storageAvailableBytes: 60,
  storageReservedBytes: 0,
  storageScheduledBytes: 50,
};

describe('growing on a disk of 100 with 60 free and 50 booked', () => {
  test.each([
    { name: 'nothing to grow, on any disk', disk: { storageMaximumBytes: 0 }, growth: 0, want: true },
    { name: 'down to exactly the minimum', disk: {}, growth: 35, want: true },
    { name: 'below the minimum', disk: {}, growth: 36, want: false },
    {
      name: 'up to the limit of what may be booked',
      disk: { storageScheduledBytes: 70 },
      growth: 30,
      want: true,
    },
    { name: 'past the limit', disk: { storageScheduledBytes: 71 }, growth: 30, want: false },
    {
      name: 'on a disk that is at its minimum already',
      disk: { storageAvailableBytes: 25 },
      growth: 1,
      want: false,
    },
    {
      name: 'the reserve counts as free here, so that down to the minimum there is more room',
      disk: { storageReservedBytes: 10, storageScheduledBytes: 0 },
      growth: 45,
      want: true,
    },
    {
      name: 'and one more is below the minimum',
      disk: { storageReservedBytes: 10, storageScheduledBytes: 0 },
      growth: 46,
      want: false,
    },
    { name: 'on a full disk', disk: { storageAvailableBytes: 0 }, growth: 1, want: false },
  ])('$name → $want', ({ disk, growth, want }) => {
    const limits = { overProvisioningPercentage: 100, minimalAvailablePercentage: 25 };
    expect(fitsExpansion({ ...DISK, ...disk }, growth, limits)).toBe(want);
  });
});

describe('all that grows written at once, apart from what is booked', () => {
  const limits = { overProvisioningPercentage: 100, minimalAvailablePercentage: 0 };
  const full = { ...DISK, storageScheduledBytes: 1000, storageReservedBytes: 40 };
  test.each([
    { name: 'nothing, on a disk of no size', disk: { storageMaximumBytes: 0 }, growth: 0, want: true },
    { name: 'less than nothing, on a full disk', disk: { storageAvailableBytes: 0 }, growth: -1, want: true },
    { name: 'one byte, on a disk of no size', disk: { storageMaximumBytes: 0 }, growth: 1, want: false },
    { name: 'one byte, on a full disk', disk: { storageAvailableBytes: 0 }, growth: 1, want: false },
    { name: 'one byte, onto the last free one', disk: { storageAvailableBytes: 1 }, growth: 1, want: true },
    {
      name: 'one byte, on a disk of one',
      disk: { storageMaximumBytes: 1, storageAvailableBytes: 1, storageReservedBytes: 0 },
      growth: 1,
      want: true,
    },
    // The reserve is not counted as used, and no part of the limit.
    { name: 'exactly the limit', disk: {}, growth: 60, want: true },
    { name: 'one past it', disk: {}, growth: 61, want: false },
  ])('$name → $want', ({ disk, growth, want }) => {
    expect(survivesGrowth({ ...full, ...disk }, growth, limits)).toBe(want);
  });

  test('one byte, on a full disk, however much may be promised', () => {
    const generous = { ...limits, overProvisioningPercentage: 200 };
    expect(survivesGrowth({ ...full, storageAvailableBytes: 0 }, 1, generous)).toBe(false);
    expect(survivesGrowth({ ...full, storageAvailableBytes: 1 }, 1, generous)).toBe(true);
  });

  test('a new replica of the size has to fit as well, which holds nothing yet', () => {
    const booked = { ...DISK, storageScheduledBytes: 90 };
    expect(survivesGrowth(booked, 20, limits)).toBe(true);
    expect(fitsExpansion(booked, 20, limits)).toBe(false);
    const nearlyFull = { ...DISK, storageAvailableBytes: 26, storageScheduledBytes: 0 };
    expect(fitsExpansion(nearlyFull, 1, { ...limits, minimalAvailablePercentage: 25 })).toBe(true);
  });
});
