/** A slice of the simulated histories of a repository; `simulation.long.test.ts` runs more of them. */
import { expect, test } from '@jest/globals';
import { History } from './simulation.js';

/** Some of the first, and those in which planted faults show. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 42, 65, 80, 158];

test.each(SEEDS)('what was said complete reads as its snapshot in the history of seed %i', async (seed) => {
  const history = new History(seed);
  await history.run();
  expect(history.outcomes.backups + history.outcomes.deaths + history.outcomes.refused).toBeGreaterThan(0);
});
