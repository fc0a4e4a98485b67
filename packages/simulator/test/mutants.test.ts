/** Broken rules are found by the fault search: here those that its first seeds find, the others in `mutants.night.test.ts`. */
import { afterAll, expect, test } from '@jest/globals';
import { clean, compile, firstFailure } from './mutants/mutant-runner.mjs';
import { MUTANTS, QUICK_SEED_MAX } from './mutants/mutants.mjs';

const HOURS = 0.5;
/** A change elsewhere in the product may make the known seed miss: then these are tried too. */
const SEED_MAX = 20;

afterAll(() => clean());

test.each(MUTANTS.filter(({ seed }) => seed <= QUICK_SEED_MAX))(
  'the search finds that $hole',
  async (mutant) => {
    const found = await firstFailure(compile(mutant), { first: mutant.seed, last: SEED_MAX, hours: HOURS });
    expect(found?.problems).toEqual(expect.arrayContaining([expect.any(String)]));
  },
);

test('ten rules are broken at least, in this suite and the long one', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(10);
});
