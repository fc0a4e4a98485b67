/** Flushes that callers share: a caller is answered by one that began after its call, and no two run at once. */
import { expect, test } from '@jest/globals';
import { SharedFlush } from './shared-flush.js';

/** Runs flushes that take so many turns of the microtask queue, and numbers their starts and ends. */
class CountedFlush {
  begun = 0;
  ended = 0;
  running = 0;
  runningMax = 0;
  readonly shared = new SharedFlush(() => this.flush());

  constructor(private readonly turnsOf: (flush: number) => number) {}

  private async flush(): Promise<void> {
    this.begun += 1;
    this.running += 1;
    this.runningMax = Math.max(this.runningMax, this.running);
    await turns(this.turnsOf(this.begun));
    this.running -= 1;
    this.ended += 1;
  }
}

async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await undefined;
}

test('no two flushes run at once, and each caller is answered after one that began after its call, whenever it comes', async () => {
  for (let first = 0; first < 4; first += 1) {
    for (let later = 0; later < 24; later += 1) {
      const flushes = new CountedFlush((flush) => (flush === 1 ? first : 12));
      const call = async (afterTurns: number) => {
        await turns(afterTurns);
        const { begun } = flushes;
        await flushes.shared.run();
        // The flush that answered started after the call, so it covers everything that ended before the call.
        expect(flushes.ended).toBeGreaterThan(begun);
      };
      await Promise.all([call(0), call(0), call(later), call(later + 1)]);
      expect(flushes.runningMax).toBe(1);
    }
  }
});

test('after a failure that is final all are refused, also those that wait', async () => {
  let calls = 0;
  const shared = new SharedFlush(async () => {
    calls += 1;
    await turns(2);
    throw new Error(`failure ${calls}`);
  });
  const outcomes = await Promise.allSettled([shared.run(), shared.run(), turns(3).then(() => shared.run())]);
  expect(outcomes.map((outcome) => outcome.status === 'rejected' && String(outcome.reason))).toEqual([
    'Error: failure 1',
    'Error: failure 1',
    'Error: failure 1',
  ]);
  expect(calls).toBe(1);
  expect(shared.hasFailed).toBe(true);
});
