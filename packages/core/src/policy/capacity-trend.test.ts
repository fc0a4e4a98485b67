import { expect, test } from '@jest/globals';
import { GIB } from '../model/bytes.js';
import { type CapacityUse, capacityTrend, trendSentence } from './capacity-trend.js';

const LIMITS = { overProvisioningPercentage: 100, minimalAvailablePercentage: 25 };
const START = Date.parse('2026-01-01T00:00:00Z');
const HOUR_MS = 3_600_000;

/** A cluster of 1,000 GiB, sampled once an hour, of which so many GiB are in use and promised in the hour. */
function history(
  hours: number,
  at: (hour: number) => { used?: number; promised?: number; size?: number },
): CapacityUse[] {
  return Array.from({ length: hours + 1 }, (_, hour) => {
    const { used = 0, promised = 0, size = 1_000 } = at(hour);
    return {
      at: new Date(START + hour * HOUR_MS),
      maximumBytes: size * GIB,
      availableBytes: (size - used) * GIB,
      reservedBytes: 0,
      scheduledBytes: promised * GIB,
    };
  });
}

/** Between 0 and 1, the same in every run. */
const noise = (hour: number) => ((hour * 7919) % 101) / 101;

test.each<[string, CapacityUse[], string]>([
  [
    'no history',
    [],
    'When it will be full is not known yet: a forecast needs a day of history, and there is less than that.',
  ],
  [
    'a history of an afternoon',
    history(5, (hour) => ({ promised: hour })),
    'When it will be full is not known yet: a forecast needs a day of history, and there is less than that.',
  ],
  [
    'nothing that grows',
    history(48, () => ({ used: 300, promised: 500 })),
    'Not full within five years at the pace of the last weeks.',
  ],
  [
    'promises that shrink',
    history(48, (hour) => ({ promised: 500 - hour })),
    'Not full within five years at the pace of the last weeks.',
  ],
  [
    'an even growth of promises, 5 GiB a day with 450 GiB left',
    history(480, (hour) => ({ promised: 450 + (5 * hour) / 24 })),
    'Full in about 90 days: what may be promised to volumes runs out first.',
  ],
  [
    'free space that ends before promises do',
    history(480, (hour) => ({ promised: 450 + (5 * hour) / 24, used: 350 + (10 * hour) / 24 })),
    'Full in about 20 days: free space runs out first.',
  ],
  [
    'as much promised as may be',
    history(48, () => ({ promised: 1_000 })),
    'Full: as much is promised to volumes as may be.',
  ],
  [
    'less free than has to be',
    history(48, () => ({ used: 750 })),
    'Full: no more space is free than has to stay free.',
  ],
  [
    'a growth too slow to matter',
    history(48, (hour) => ({ promised: 100 + hour / 1e4 })),
    'Not full within five years at the pace of the last weeks.',
  ],
])('the sentence for %s', (_what, samples, sentence) => {
  expect(trendSentence(capacityTrend(samples, LIMITS))).toBe(sentence);
});

test('one large delete and one new disk do not turn the trend around', () => {
  const samples = history(480, (hour) => ({
    promised: 450 + (5 * hour) / 24 - (hour > 430 ? 60 : 0),
    size: hour > 400 ? 1_200 : 1_000,
  }));
  const trend = capacityTrend(samples, LIMITS);
  expect(trend).toMatchObject({ kind: 'growing', limitedBy: 'promised' });
  // 710 GiB are left: 142 days at the true pace.
  const days = trend.kind === 'growing' ? trend.days : 0;
  expect(days).toBeGreaterThan(125);
  expect(days).toBeLessThan(175);
});

test('a growth that is uneven has a range around its days', () => {
  const samples = history(720, (hour) => ({ promised: 400 + (5 * hour) / 24 + 40 * noise(hour) }));
  const trend = capacityTrend(samples, LIMITS);
  if (trend.kind !== 'growing') throw new Error(`it is ${trend.kind}`);
  expect(trend.daysLeast).toBeLessThan(trend.days);
  expect(trend.daysMost ?? Number.POSITIVE_INFINITY).toBeGreaterThan(trend.days);
});

test('what was longer than thirty days ago does not count', () => {
  const samples = history(24 * 60, (hour) => ({ promised: hour < 24 * 25 ? 20 * (hour / 24) : 500 }));
  expect(capacityTrend(samples, LIMITS)).toEqual({ kind: 'steady' });
});
