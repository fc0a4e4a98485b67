/** A search for the night: more random scenarios than `search.test.ts` runs. */
import { expect, test } from '@jest/globals';
import { searchSeeds } from './search-seeds.js';

const FIRST = 31;
/** Each night has 3,000 (.github/workflows/nightly.yml). */
const LAST = Number(process.env.HOLDFAST_SEARCH_SEEDS ?? 120);

test(`scenarios by chance up to seed ${LAST} break no invariant, and heal`, async () => {
  expect(await searchSeeds(FIRST, LAST)).toEqual({ problems: [], isUsed: true });
});
