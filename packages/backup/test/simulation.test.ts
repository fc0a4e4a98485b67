/** A slice of the simulated histories of a repository; `simulation.long.test.ts` runs more of them. */
import { expect, test } from '@jest/globals';
import { History } from './simulation.js';

/** The first ones, in which most planted faults show, and further ones that showed some. */
const SEEDS = [...Array.from({ length: 40 }, (_, index) => index + 1), 77, 83, 116, 180];

test.each(SEEDS)('what was said complete reads as its snapshot in the history of seed %i', async (seed) => {
  const history = new History(seed);
  await history.run();
  expect(history.outcomes.backups + history.outcomes.deaths + history.outcomes.refused).toBeGreaterThan(0);
});
