/**
 * Simulation of one volume's engines, copies and disks in virtual time, by seed (docs/adr/0128-data-path-simulation.md): all promises hold
 * whatever happens, and rules that are broken on purpose are found. `simulation.night.test.ts` has the rules that are found late.
 */
import { expect, test } from '@jest/globals';
import { MUTANTS, QUICK_SEED_MAX } from './simulation/mutants.mjs';
import { compile, search } from './simulation/runner.mjs';

const SEEDS = 20;
const COPY_SEEDS = 60;
/** A change elsewhere in the data path may make the known seed miss: then these are tried too. */
const TRIES = 20;

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
test.each(MUTANTS.filter((mutant) => 'seed' in mutant).filter(({ seed }) => seed <= QUICK_SEED_MAX))(
  'it is found out when $hole',
  async (mutant) => {
    const { seed, disks = 'any', faults } = mutant;
    const isFinal = ({ failure }: { failure: string | null }) => failure !== null;
    const args = ['1000', disks, ...faults];
    const { failures } = await search({
      folder: compile(mutant),
      first: seed,
      last: seed + TRIES,
      args,
      isFinal,
    });
    expect(failures.length).toBeGreaterThan(0);
  },
);
