import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { Throttle } from './throttle.js';

const FREE = { paused: false, bandwidthBytesPerSecond: null };

describe('a rest after a piece of work', () => {
  // Each row: how long the work took. A rest is detected by whether a turn of the event loop passes first.
  test.each([
    { name: 'none while no user is at work', tuning: FREE, workMs: 50, rests: false },
    {
      name: 'as long as the work while users are',
      tuning: { ...FREE, yields: true },
      workMs: 50,
      rests: true,
    },
    { name: 'none after work that took no time', tuning: { ...FREE, yields: true }, workMs: 0, rests: false },
  ])('$name', async ({ tuning, workMs, rests }) => {
    const throttle = new Throttle(tuning);
    const rested = throttle.rest(performance.now() - workMs).then(() => true);
    // Ten turns are less than the rest, and more than a timer of a millisecond needs to be due.
    const first = await Promise.race([rested, turns(workMs === 0 ? undefined : 10)]);
    expect(first).toBe(!rests);
    throttle.tune(FREE);
    await rested;
  });

  test('ends when the users have gone', async () => {
    const throttle = new Throttle({ ...FREE, yields: true });
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

/** False after that many turns of the event loop; never if they are not counted. */
async function turns(count: number | undefined): Promise<boolean> {
  if (count === undefined) return new Promise(() => undefined);
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return false;
}
