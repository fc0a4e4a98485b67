/** 200 simulated histories of a repository. A seed that fails is repeated by putting it into the suite of the slice. */
import { expect, test } from '@jest/globals';
import { History } from './simulation.js';

const FIRST = 101;
const HISTORIES = 200;

test('what was said complete reads as its snapshot in every history', async () => {
  const sum = { backups: 0, restores: 0, prunes: 0, deaths: 0, refused: 0 };
  for (let seed = FIRST; seed < FIRST + HISTORIES; seed += 1) {
    const history = new History(seed);
    try {
      await history.run();
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
    for (const key of Object.keys(sum) as (keyof typeof sum)[]) sum[key] += history.outcomes[key];
  }
  // The histories contain what they are about.
  expect(sum.backups).toBeGreaterThan(HISTORIES);
  expect(sum.restores).toBeGreaterThan(HISTORIES);
  expect(sum.prunes).toBeGreaterThan(HISTORIES);
  expect(sum.deaths).toBeGreaterThan(HISTORIES);
});
