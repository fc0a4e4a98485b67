/** The fault search itself: random scenarios hold every invariant and heal, a seed is the same run, failures shrink. */
import { expect, test } from '@jest/globals';
import { generateScenario, type ScenarioValue } from './generate.js';
import { runSearch } from './run-search.js';
import { searchSeeds } from './search-seeds.js';
import { shrink } from './shrink.js';

/** `search.night.test.ts` has more, and each night 3,000 (.github/workflows/nightly.yml). */
const SEEDS = 30;
const SIZE = { hours: 0.5 };

test(`${SEEDS} scenarios by chance break no invariant, and heal`, async () => {
  expect(await searchSeeds(1, SEEDS)).toEqual({ problems: [], isUsed: true });
});

test('the same seed is the same run', async () => {
  const value = generateScenario(7, SIZE);
  expect(generateScenario(7, SIZE)).toEqual(value);
  expect(await runSearch(value)).toEqual(await runSearch(value));
});

test('what has nothing to do with a failure is left out', async () => {
  const value = generateScenario(11, { hours: 1, nodes: 6, volumes: 4 });
  const culprit = value.steps[12];
  const fails = async ({ steps }: ScenarioValue) => steps.includes(culprit ?? { at: 0, refused: 'maybe' });
  const least = (await shrink(value, fails)).value;
  expect(least.steps).toEqual([culprit]);
  expect(least.settings).toEqual({});
  expect(least.volumes.length).toBeLessThanOrEqual(1);
  expect(least.cluster.nodes.length).toBeLessThanOrEqual(2);
});
