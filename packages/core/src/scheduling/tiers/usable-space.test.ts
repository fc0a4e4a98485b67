import { describe, expect, test } from '@jest/globals';
import { LONGHORN_PROFILE } from '../longhorn/longhorn-profile.js';
import { HOLDFAST_PROFILE } from '../placement/profile.js';
import { totalBytes, usableBytes } from './usable-space.js';

describe('usable bytes', () => {
  const disk = {
    storageMaximumBytes: 100,
    storageAvailableBytes: 50,
    storageReservedBytes: 10,
    storageScheduledBytes: 30,
    writtenBytes: 20,
  };

  test('written data counts once here, twice at Longhorn, and more than is booked counts for nothing', () => {
    expect(usableBytes(disk, HOLDFAST_PROFILE)).toBe(30);
    expect(usableBytes(disk, LONGHORN_PROFILE)).toBe(10);
    expect(usableBytes({ ...disk, writtenBytes: 40 }, HOLDFAST_PROFILE)).toBe(40);
    expect(usableBytes({ ...disk, storageScheduledBytes: 90 }, HOLDFAST_PROFILE)).toBe(-30);
  });

  test('are a share of what the reserve leaves', () => {
    expect(totalBytes(disk)).toBe(90);
    expect(totalBytes({ ...disk, storageReservedBytes: 101 })).toBe(0);
  });
});
