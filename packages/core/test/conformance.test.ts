/**
 * Agreement with Longhorn's real scheduler, decision by decision (`packages/core/test/vectors`).
 *
 * The auto-balance categories are left out: they follow upstream bugs and are informative.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { runVector } from '../src/scheduling/conformance/run-vector.js';
import { isInformative } from '../src/scheduling/conformance/vector.js';

const FOLDER = new URL('./vectors/', import.meta.url);

const VECTORS = readdirSync(FOLDER)
  .sort()
  .flatMap((file): unknown[] => JSON.parse(readFileSync(new URL(file, FOLDER), 'utf8')))
  .filter((vector) => !isInformative(vector));

const RESULTS = VECTORS.map(runVector);
const CATEGORIES = [...new Set(RESULTS.map(({ category }) => category))];

describe('the longhorn profile agrees with Longhorn', () => {
  test('on 1454 vectors in all', () => {
    expect(RESULTS.filter(({ passed }) => passed)).toHaveLength(1454);
  });

  test.each(CATEGORIES)('%s', (category) => {
    const ofCategory = RESULTS.filter((result) => result.category === category);
    const failed = ofCategory.filter(({ passed }) => !passed);
    expect(failed.map(({ name, got, wanted }) => `${name}: got ${got}, wanted ${wanted}`)).toEqual([]);
  });

  // Stronger than Longhorn's own randomness asks for: ties go to the smallest ids, out of exactly its candidates.
  test('and gives the listed one of several right answers', () => {
    expect(RESULTS.filter(({ exact }) => !exact).map(({ name }) => name)).toEqual([]);
  });
});
