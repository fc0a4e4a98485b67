import { describe, expect, test } from '@jest/globals';
import { runChaos } from './chaos.js';

/** Each run takes a few milliseconds; a failure names the seed that replays it. */
const SEEDS = 120;
const STEPS = 25;

describe('randomized faults', () => {
  test(`${SEEDS} runs end with healthy volumes, no acknowledged write lost and no invariant broken`, async () => {
    let acknowledged = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const result = await runChaos(seed, STEPS);
      expect({ seed, findings: result.findings }).toEqual({ seed, findings: [] });
      acknowledged += result.acknowledged;
    }
    // The runs are worth something only while volumes are in fact used.
    expect(acknowledged).toBeGreaterThan(SEEDS * 5);
  }, 120_000);

  test('the same seed is the same run', async () => {
    expect(await runChaos(7, STEPS)).toEqual(await runChaos(7, STEPS));
  });
});
