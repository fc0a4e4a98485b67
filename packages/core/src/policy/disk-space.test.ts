import { describe, expect, test } from '@jest/globals';
import { leavesFreeSpace, staysProvisionable } from './disk-space.js';

const DISK = {
  storageMaximumBytes: 100,
  storageAvailableBytes: 50,
  storageReservedBytes: 0,
  storageScheduledBytes: 0,
};
const LIMITS = { overProvisioningPercentage: 100, minimalAvailablePercentage: 25 };

describe('the first formula: what is free afterwards is more than the minimum', () => {
  test.each([
    { name: 'one byte more', disk: {}, written: 24, limits: {}, want: true },
    { name: 'exactly the minimum', disk: {}, written: 25, limits: {}, want: false },
    {
      name: 'more data than is free',
      disk: {},
      written: 60,
      limits: { minimalAvailablePercentage: 0 },
      want: false,
    },
    {
      name: 'the last byte, with a minimum of 0',
      disk: {},
      written: 49,
      limits: { minimalAvailablePercentage: 0 },
      want: true,
    },
    {
      name: 'all bytes, with a minimum of 0',
      disk: {},
      written: 50,
      limits: { minimalAvailablePercentage: 0 },
      want: false,
    },
    {
      name: 'a minimum of all',
      disk: { storageAvailableBytes: 100 },
      written: 0,
      limits: { minimalAvailablePercentage: 100 },
      want: false,
    },
    {
      name: 'the smallest disk there is',
      disk: { storageMaximumBytes: 1, storageAvailableBytes: 1 },
      written: 0,
      limits: {},
      want: true,
    },
    { name: 'a disk of no size', disk: { storageMaximumBytes: 0 }, written: 0, limits: {}, want: false },
    {
      name: 'nothing free',
      disk: { storageAvailableBytes: 0 },
      written: 0,
      limits: { minimalAvailablePercentage: 0 },
      want: false,
    },
    {
      name: 'a minimum that is cut: 25 % of 10 are 2',
      disk: { storageMaximumBytes: 10, storageAvailableBytes: 3 },
      written: 0,
      limits: {},
      want: true,
    },
  ])('$name → $want', ({ disk, written, limits, want }) => {
    expect(leavesFreeSpace({ ...DISK, ...disk }, written, { ...LIMITS, ...limits })).toBe(want);
  });
});

describe('the second formula: sizes stay within what may be booked', () => {
  test.each([
    { name: 'exactly the limit', disk: { storageScheduledBytes: 60 }, size: 40, limits: {}, want: true },
    { name: 'one byte past it', disk: { storageScheduledBytes: 60 }, size: 41, limits: {}, want: false },
    {
      name: 'the reserve is off limits',
      disk: { storageReservedBytes: 40 },
      size: 61,
      limits: {},
      want: false,
    },
    {
      name: 'twice what there is',
      disk: { storageReservedBytes: 40 },
      size: 120,
      limits: { overProvisioningPercentage: 200 },
      want: true,
    },
    {
      name: 'nothing may be booked',
      disk: {},
      size: 1,
      limits: { overProvisioningPercentage: 0 },
      want: false,
    },
    {
      name: 'no size at all, where nothing may be booked',
      disk: {},
      size: 0,
      limits: { overProvisioningPercentage: 0 },
      want: true,
    },
    {
      name: 'no size at all, on a reserve larger than the disk',
      disk: { storageReservedBytes: 101 },
      size: 0,
      limits: {},
      want: false,
    },
    {
      name: 'a limit that is cut: 50 % of 99 are 49',
      disk: { storageMaximumBytes: 99 },
      size: 50,
      limits: { overProvisioningPercentage: 50 },
      want: false,
    },
    // Cut towards zero, so that a small overdraft is none.
    {
      name: 'a negative limit is cut too',
      disk: { storageReservedBytes: 101 },
      size: 0,
      limits: { overProvisioningPercentage: 50 },
      want: true,
    },
  ])('$name → $want', ({ disk, size, limits, want }) => {
    expect(staysProvisionable({ ...DISK, ...disk }, size, { ...LIMITS, ...limits })).toBe(want);
  });
});
