import { aDisk, type DiskPart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { diskSchedulableCondition } from './disk-conditions.js';

describe('diskSchedulableCondition', () => {
  const settings = effectiveSettings({});
  test.each<{ name: string; disk: DiskPart; nodeReady?: boolean; want: string }>([
    { name: 'an empty disk', disk: {}, want: 'True' },
    { name: 'its node is silent', disk: {}, nodeReady: false, want: 'NodeNotReady' },
    { name: 'the disk is not ready', disk: { ready: false }, want: 'DiskNotReady' },
    { name: 'just above the minimum', disk: { bytes: 100, storageAvailableBytes: 26 }, want: 'True' },
    { name: 'exactly the minimum', disk: { bytes: 100, storageAvailableBytes: 25 }, want: 'DiskPressure' },
    { name: 'booked up to the limit', disk: { bytes: 100, storageScheduledBytes: 100 }, want: 'True' },
    { name: 'booked past the limit', disk: { bytes: 100, storageScheduledBytes: 101 }, want: 'DiskPressure' },
  ])('$name → $want', ({ disk, nodeReady = true, want }) => {
    const { status, reason } = diskSchedulableCondition(aDisk('n', 'd', disk), nodeReady, settings);
    expect(status === 'True' ? status : reason).toBe(want);
  });
});
