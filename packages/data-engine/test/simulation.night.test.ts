/**
 * A search for the night: simulation of one volume's engines, copies and disks in virtual time, by seed (docs/adr/0128-data-path-simulation.md): more lives than
 * `simulation.test.ts` has, and the broken rules that are found late.
 */
import { expect, test } from '@jest/globals';
import { MUTANTS, QUICK_SEED_MAX } from './simulation/mutants.mjs';
import { compile, search } from './simulation/runner.mjs';

/** For more: `node tools/data-path-search.mjs --seeds 1..2000`, as each night does (.github/workflows/nightly.yml). */
const SEEDS = 80;
const COPY_SEEDS = 2_000;
/** Seeds tried from the known one on. A change elsewhere in the data path may make these miss: then all are tried. */
const TRIES = 20;
const MUTANT_SEEDS = 2_000;

test(`nothing acknowledged is lost in ${SEEDS} lives of a volume`, async () => {
  const folder = compile();
  const { seeds, failures } = await search({ folder, first: 1, last: SEEDS });
  const [first] = failures;
  expect(first && `${first.failure}\n${first.story.join('\n')}`).toBeUndefined();
  expect(seeds).toBe(SEEDS);
});

test(`a single copy keeps what it has acknowledged in ${COPY_SEEDS} lives`, async () => {
  const args = ['1000', 'any', 'copy'];
  const { seeds, failures } = await search({ folder: compile(), first: 1, last: COPY_SEEDS, args });
  const [first] = failures;
  expect(first && `${first.failure}\n${first.story.join('\n')}`).toBeUndefined();
  expect(seeds).toBe(COPY_SEEDS);
});

/** For the others: `node tools/data-path-search.mjs --mutant <name>`. */
test.each(MUTANTS.filter((mutant) => 'seed' in mutant).filter(({ seed }) => seed > QUICK_SEED_MAX))(
  'it is found out when $hole',
  async (mutant) => {
    const { seed, disks = 'any', faults } = mutant;
    const folder = compile(mutant);
    const args = ['1000', disks, ...faults];
    const isFinal = ({ failure }: { failure: string | null }) => failure !== null;
    const near = await search({ folder, first: seed, last: seed + TRIES, args, isFinal });
    const isFound = near.failures.length > 0;
    const { failures } = isFound
      ? near
      : await search({ folder, first: 1, last: MUTANT_SEEDS, args, isFinal });
    expect(failures.length).toBeGreaterThan(0);
  },
);
