import { relativeTime } from '@holdfast/ui/moment.js';
import { describe, expect, test } from '@jest/globals';

const NOW = new Date('2026-11-28T12:00:00Z');
const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

describe('a point in time', () => {
  test.each([
    { name: 'is its age', aheadMs: -4 * MINUTE_MS, coming: false, want: '4m ago' },
    { name: 'is now where the clocks differ a little', aheadMs: 20_000, coming: false, want: '0s ago' },
    { name: 'never calls the future past', aheadMs: 3 * DAY_MS, coming: false, want: 'in 3d' },
    { name: 'is how far away it is', aheadMs: 3 * DAY_MS, coming: true, want: 'in 3d' },
    { name: 'is at hand where the clocks differ a little', aheadMs: -20_000, coming: true, want: 'in 0s' },
    { name: 'never calls the past coming', aheadMs: -4 * MINUTE_MS, coming: true, want: '4m ago' },
  ])('$name', ({ aheadMs, coming, want }) => {
    expect(relativeTime(new Date(NOW.getTime() + aheadMs), NOW, coming)).toBe(want);
  });
});
