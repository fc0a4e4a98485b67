import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import type { ClusterCapacity } from '../api/types';
import { type Sample, spaceChart, tableRows, trafficChart } from './history';

const BEGIN_S = Date.UTC(2026, 0, 1) / 1_000;

function capacity(...steps: number[]): ClusterCapacity {
  const samples = steps.map(
    (step): Sample => ({
      at: new Date((BEGIN_S + step * 300) * 1_000).toISOString(),
      maximum: 100 * GIB,
      available: 60 * GIB,
      reserved: 0,
      scheduled: 70 * GIB,
      written: step * GIB,
      rebuildTraffic: 300 * step,
    }),
  );
  const forecast = { verdict: 'steady' as const, limitedBy: null, growthPerDay: null, sentence: '' };
  return {
    stepSeconds: 300,
    samples,
    forecast: { ...forecast, days: null, daysLeast: null, daysMost: null },
  };
}

test('the chart of space has a line for what there is, promised, in use and written', () => {
  const { times, series } = spaceChart(capacity(1, 2));
  expect(times).toEqual([BEGIN_S + 300, BEGIN_S + 600]);
  expect(series.map(({ name, values }) => [name, values.at(-1)])).toEqual([
    ['Size of the disks', 100 * GIB],
    ['Promised', 70 * GIB],
    ['In use', 40 * GIB],
    ['Written by volumes', 2 * GIB],
  ]);
});

test('a time without samples is a gap', () => {
  const { times, series } = trafficChart(capacity(1, 2, 9));
  expect(times.map((at) => (at - BEGIN_S) / 300)).toEqual([1, 2, 3, 9]);
  expect(series[0]?.values).toEqual([1, 2, null, 9]);
});

test('the table has few rows, the newest first', () => {
  const { samples } = capacity(...Array.from({ length: 25 }, (_, step) => step));
  expect(tableRows(samples, 10).map(({ written }) => written / GIB)).toEqual([
    24, 21, 18, 15, 12, 9, 6, 3, 0,
  ]);
});
