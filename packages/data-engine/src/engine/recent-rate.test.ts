import { expect, test } from '@jest/globals';
import { recentRate } from './recent-rate.js';

test('the rate is that of the last ten seconds, not of all the time', () => {
  const rate = recentRate();
  expect(rate({ atMs: 0, bytes: 0 })).toBe(0);
  expect(rate({ atMs: 1_000, bytes: 100 })).toBe(100);
  expect(rate({ atMs: 5_000, bytes: 500 })).toBe(100);
  expect(rate({ atMs: 10_000, bytes: 5_500 })).toBe(550);
  expect(rate({ atMs: 15_000, bytes: 5_500 })).toBe(500);
  expect(rate({ atMs: 25_000, bytes: 5_500 })).toBe(0);
});

test('a count that was begun anew has no rate below zero', () => {
  const rate = recentRate();
  rate({ atMs: 0, bytes: 900 });
  expect(rate({ atMs: 1_000, bytes: 100 })).toBe(0);
});
