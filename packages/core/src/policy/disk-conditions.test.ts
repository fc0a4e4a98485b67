import { aDisk, type DiskPart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { effectiveSettings } from '../settings/effective.js';
import { conditionsAfter, diskSchedulableCondition } from './disk-conditions.js';

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

describe('conditionsAfter', () => {
  const NOON = new Date('2026-01-01T12:00:00Z');
  const LATER = new Date('2026-01-01T13:00:00Z');
  const well = { ready: true, reason: '', message: '' };
  const shown = (conditions: ReturnType<typeof conditionsAfter>) =>
    conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`.trim());

  test.each([
    { directIo: true, want: ['DirectIo True', 'Ready True'] },
    { directIo: false, want: ['DirectIo False DirectIoRefused', 'Ready True'] },
    { directIo: undefined, want: ['Ready True'] },
  ])('direct I/O $directIo', ({ directIo, want }) => {
    expect(shown(conditionsAfter({ ...well, directIo }, [], NOON))).toEqual(want);
  });

  test('a disk that can not be asked keeps what is known of it', () => {
    const before = conditionsAfter({ ...well, directIo: false }, [], NOON);
    const missing = { ready: false, reason: 'DiskMissing', message: 'it is not mounted' };
    expect(shown(conditionsAfter(missing, before, LATER))).toEqual([
      'DirectIo False DirectIoRefused',
      'Ready False DiskMissing',
    ]);
  });

  test('the same report changes nothing', () => {
    const before = conditionsAfter({ ...well, directIo: false }, [], NOON);
    expect(conditionsAfter({ ...well, directIo: false }, before, LATER)).toBe(before);
  });

  test.each([
    { verdict: 'DiskNotReady', report: well, want: ['Ready True'] },
    {
      verdict: 'DiskNotReady',
      report: { ready: false, reason: 'DiskMissing', message: 'it is not mounted' },
      want: ['Ready False DiskMissing', 'Schedulable False DiskNotReady'],
    },
    { verdict: 'DiskPressure', report: well, want: ['Ready True', 'Schedulable False DiskPressure'] },
  ])('a verdict of $verdict after a report of ready $report.ready', ({ verdict, report, want }) => {
    const pending = { type: 'Ready', status: 'False', reason: 'DiskPending', message: '' } as const;
    const judged = { type: 'Schedulable', status: 'False', reason: verdict, message: '' } as const;
    const before = [pending, judged].map((condition) => ({ ...condition, lastTransitionAt: NOON }));
    expect(shown(conditionsAfter(report, before, LATER))).toEqual(want);
  });
});
