import { describe, expect, test } from '@jest/globals';
import { Throttle } from './throttle.js';

const FREE = { paused: false, bandwidthBytesPerSecond: null };

describe('a rest after a piece of work', () => {
  // The work took so long; the rest is told from none by whether a turn of the event loop comes first.
  test.each([
    { name: 'none while nobody is at work', tuning: FREE, workMs: 50, rests: false },
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

/** False after so many turns of the event loop; never when they are not counted. */
async function turns(count: number | undefined): Promise<boolean> {
  if (count === undefined) return new Promise(() => undefined);
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return false;
}
