/** Broken rules of core and control are found by the fault search: each from the seed on that is known to find it. */
import { afterAll, expect, test } from '@jest/globals';
import { clean, compile, firstFailure } from './mutants/mutant-runner.mjs';
import { MUTANTS } from './mutants/mutants.mjs';

const HOURS = 0.5;
/** What a search of mutants may take: `node tools/fault-search.mjs` looks for their first seeds. */
const SEEDS_MAX = 1_000;
/** Seeds tried from the known one on: a change elsewhere in the product may make that one miss. */
const TRIES = 60;

afterAll(() => clean());

test.each(MUTANTS)(
  'the search finds that $hole',
  async (mutant) => {
    const { seed } = mutant;
    expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
    const found = await firstFailure(compile(mutant), { first: seed, last: seed + TRIES, hours: HOURS });
    expect(found?.problems).toEqual(expect.arrayContaining([expect.any(String)]));
  },
  60_000,
);

test('ten rules are broken at least', () => {
  expect(MUTANTS.length).toBeGreaterThanOrEqual(10);
});
