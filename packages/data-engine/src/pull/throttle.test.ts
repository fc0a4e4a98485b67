import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { SYSTEM_TIME } from '../base/time.js';
import { Throttle } from './throttle.js';

const FREE = { paused: false, bandwidthBytesPerSecond: null };
const YIELDING = { ...FREE, yields: true };

describe('a rest after a piece of work', () => {
  const NOW_MS = 5_000;

  /** How long the throttle waits, on a clock that stands still and whose waits are over at once. */
  async function restsAfter(tuning: typeof FREE, workMs: number): Promise<number[]> {
    const waitsMs: number[] = [];
    const after = (ms: number, call: () => void) => {
      waitsMs.push(ms);
      call();
      return () => undefined;
    };
    const throttle = new Throttle(tuning, { ...SYSTEM_TIME, nowMs: () => NOW_MS, after });
    await throttle.rest(NOW_MS - workMs);
    return waitsMs;
  }

  test.each([
    { name: 'none while no user is at work', tuning: FREE, workMs: 50, restsMs: [] },
    { name: 'as long as the work while users are', tuning: YIELDING, workMs: 50, restsMs: [50] },
    { name: 'a second at most', tuning: YIELDING, workMs: 3_000, restsMs: [1_000] },
    { name: 'none after work that took no time', tuning: YIELDING, workMs: 0, restsMs: [0] },
  ])('$name', async ({ tuning, workMs, restsMs }) => {
    expect(await restsAfter(tuning, workMs)).toEqual(restsMs);
  });

  test('ends when the users have gone', async () => {
    const throttle = new Throttle(YIELDING);
    const rested = throttle.rest(performance.now() - 1_000_000);
    throttle.tune(FREE);
    await rested;
    expect(throttle.yields).toBe(false);
  });
});

describe('a limit in bytes a second', () => {
  const KIB = 1024;
  const limit = (kib: number | null) => ({
    paused: false,
    bandwidthBytesPerSecond: kib === null ? null : kib * KIB,
  });
  const goOn = () => undefined;
  let taken: number;
  let stopped: boolean;
  beforeEach(() => {
    jest.useFakeTimers();
    taken = 0;
    stopped = false;
  });
  afterEach(() => void jest.useRealTimers());

  test('is not what holds a rebuild that is paused and has none', async () => {
    const throttle = new Throttle({ ...limit(null), paused: true });
    const took = throttle.take(KIB, goOn).then(() => {
      taken += KIB;
    });
    await jest.advanceTimersByTimeAsync(60_000);
    expect(taken).toBe(0);
    throttle.tune(limit(null));
    await took;
    expect(taken).toBe(KIB);
  });

  /** Takes one KiB after another until it is stopped. */
  function copy(throttle: Throttle): Promise<void> {
    const requireGoingOn = () => {
      if (stopped) throw new Error('cancelled');
    };
    const run = async () => {
      for (;;) {
        await throttle.take(KIB, requireGoingOn);
        taken += 1;
      }
    };
    return run().catch(() => undefined);
  }

  async function inOneSecond(): Promise<number> {
    const before = taken;
    await jest.advanceTimersByTimeAsync(1000);
    return taken - before;
  }

  test('holds, also when it is changed while a caller waits', async () => {
    const throttle = new Throttle(limit(100));
    const copying = copy(throttle);
    await jest.advanceTimersByTimeAsync(1000);
    expect(await inOneSecond()).toBeCloseTo(100, -1);
    throttle.tune(limit(400));
    expect(await inOneSecond()).toBeCloseTo(400, -2);
    throttle.tune(limit(50));
    await inOneSecond();
    expect(await inOneSecond()).toBeCloseTo(50, -1);
    throttle.tune({ ...limit(50), paused: true });
    expect(await inOneSecond()).toBe(0);
    stopped = true;
    throttle.rouse();
    await copying;
  });

  test.each([
    { name: 'raised', tuning: limit(10_000_000) },
    { name: 'lifted', tuning: limit(null) },
  ])('that is $name ends at once the waits under the old one', async ({ tuning }) => {
    const throttle = new Throttle(limit(1));
    await throttle.take(3600 * KIB, goOn);
    const waiting = throttle.take(KIB, goOn).then(() => 'went');
    await jest.advanceTimersByTimeAsync(1000);
    throttle.tune(tuning);
    await jest.advanceTimersByTimeAsync(1);
    expect(await Promise.race([waiting, Promise.resolve('waits')])).toBe('went');
  });
});
