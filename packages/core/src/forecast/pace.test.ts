import { describe, expect, test } from '@jest/globals';
import { MIB } from '../model/bytes.js';
import { pacesOf, rangeOf } from './pace.js';

const samples = Array.from({ length: 11 }, (_, index) => ({ bytes: (index + 1) * MIB, seconds: 1 }));

describe('paces', () => {
  test('are the fastest, the median, and what nine in ten reached, of rebuilds that moved something', () => {
    const paces = pacesOf([...samples, { bytes: 0, seconds: 5 }]);
    expect(paces.low.bytesPerSecond).toBe(11 * MIB);
    expect(paces.p50.bytesPerSecond).toBe(6 * MIB);
    expect(paces.p90.bytesPerSecond).toBe(2 * MIB);
  });

  test('are assumed where none were measured', () => {
    expect(pacesOf([]).p50.bytesPerSecond).toBe(100 * MIB);
    expect(rangeOf([], () => 5)?.basis).toBe('assumed');
    expect(rangeOf(samples, () => 5)?.basis).toBe('measured');
  });

  test('a range does not turn around, and is none where nothing happens', () => {
    const seconds = [20, 10.5, 4];
    expect(rangeOf([], () => seconds.shift())).toMatchObject({
      lowSeconds: 11,
      p50Seconds: 11,
      p90Seconds: 11,
    });
    expect(rangeOf([], () => undefined)).toBeUndefined();
  });
});
