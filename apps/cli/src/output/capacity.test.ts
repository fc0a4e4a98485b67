import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import type { ClusterCapacity } from '../types.js';
import { capacityText } from './capacity.js';

const TABLE = { output: 'table', headers: true, color: false } as const;

const forecast: ClusterCapacity['forecast'] = {
  verdict: 'steady',
  limitedBy: null,
  growthPerDay: null,
  days: null,
  daysLeast: null,
  daysMost: null,
  sentence: 'Not full within five years.',
};
const sampleAt = (minute: number): ClusterCapacity['samples'][number] => ({
  at: new Date(Date.UTC(2026, 0, 1, 12, minute)).toISOString(),
  maximum: 100 * GIB,
  available: 60 * GIB,
  reserved: 0,
  scheduled: 30 * GIB,
  written: GIB,
  rebuildTraffic: GIB,
});

test('without samples the forecast stands alone', () => {
  expect(capacityText({ forecast, stepSeconds: 300, samples: [] }, TABLE).split('\n')).toEqual([
    'Not full within five years.',
    'There are no samples yet.',
  ]);
});

test('a long history is a dozen lines, of which no traffic is missing and the last is the newest', () => {
  const samples = Array.from({ length: 25 }, (_, index) => sampleAt(index));
  const [sentence, head, ...lines] = capacityText({ forecast, stepSeconds: 60, samples }, TABLE)
    .trimEnd()
    .split('\n');
  expect(sentence).toBe('Not full within five years.');
  expect(head).toMatch(/rebuild traffic/i);
  const traffic = lines.map((line) => Number(/(\d+) GiB$/.exec(line)?.[1]));
  expect(traffic.reduce((sum, value) => sum + value, 0)).toBe(25);
  expect(lines.length).toBeLessThanOrEqual(12);
  expect(lines.at(-1)).toContain('12:24:00');
});
