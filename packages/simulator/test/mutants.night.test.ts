/** A search for the night: broken rules of core and control are found by the fault search, each from the seed on that is known to find it. */
import { afterAll, expect, test } from '@jest/globals';
import { clean, compile, firstFailure } from './mutants/mutant-runner.mjs';
import { MUTANTS, QUICK_SEED_MAX } from './mutants/mutants.mjs';

const HOURS = 0.5;
/** The seeds within which every broken rule has to be found: `node tools/fault-search.mjs` prints the first of each. */
const SEEDS_MAX = 1_000;
/** Seeds tried from the known one on. A change elsewhere in the product may make these miss: then all are tried. */
const TRIES = 20;

afterAll(() => clean());

test.each(MUTANTS.filter(({ seed }) => seed > QUICK_SEED_MAX))(
  'the search finds that $hole',
  async (mutant) => {
    const { seed } = mutant;
    expect(seed).toBeLessThanOrEqual(SEEDS_MAX);
    const folder = compile(mutant);
    const found =
      (await firstFailure(folder, { first: seed, last: seed + TRIES, hours: HOURS })) ??
      (await firstFailure(folder, { first: 1, last: SEEDS_MAX, hours: HOURS }));
    expect(found?.problems).toEqual(expect.arrayContaining([expect.any(String)]));
  },
);
