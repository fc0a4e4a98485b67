/** Writes to the same blocks go one after the other, in the order in which they came; others at once. */
import { describe, expect, test } from '@jest/globals';
import { RangeLocks } from './range-locks.js';

describe('a lock that was asked for later', () => {
  test.each([
    { name: 'the same range', range: [10, 20], waits: true },
    { name: 'a range that reaches into it from below', range: [5, 11], waits: true },
    { name: 'a range that begins within it', range: [19, 30], waits: true },
    { name: 'a range around it', range: [0, 30], waits: true },
    { name: 'a range inside it', range: [12, 15], waits: true },
    { name: 'the range that ends where it begins', range: [5, 10], waits: false },
    { name: 'the range that begins where it ends', range: [20, 30], waits: false },
  ] as const)('of $name waits: $waits', async ({ range: [start, end], waits }) => {
    const locks = new RangeLocks();
    const earlier = locks.take(10, 20);
    const later = locks.take(start, end);
    expect(later.waiting !== undefined).toBe(waits);
    expect(locks.changed(start, start + 1) !== undefined).toBe(true);
    locks.release(earlier);
    await later.waiting;
    locks.release(later);
    expect(locks.idle).toBe(true);
  });

  test('waits for all earlier ones, and a barrier for everything', async () => {
    const locks = new RangeLocks();
    const log: string[] = [];
    const low = locks.take(0, 10);
    const high = locks.take(10, 20);
    const across = locks.withRange(5, 15, async () => void log.push('across'));
    const barrier = locks.alone(async () => void log.push('barrier'));
    const behind = locks.withRange(100, 101, async () => void log.push('behind the barrier'));
    locks.release(low);
    await new Promise(setImmediate);
    expect(log).toEqual([]);
    locks.release(high);
    await Promise.all([across, barrier, behind]);
    expect(log).toEqual(['across', 'barrier', 'behind the barrier']);
  });
});
