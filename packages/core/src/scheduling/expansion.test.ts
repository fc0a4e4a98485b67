import { describe, expect, test } from '@jest/globals';
import { fitsExpansion } from './expansion.js';

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
