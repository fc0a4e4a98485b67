/**
 * Simulation of one volume's engines, copies and disks in virtual time, by seed (docs/adr/0128): all promises hold
 * whatever happens, and each rule that is broken on purpose is found by some seed.
 */
import { expect, test } from '@jest/globals';
import { MUTANTS } from './simulation/mutants.mjs';
import { compile, search } from './simulation/runner.mjs';

const SEEDS = 240;
/** Each is found within a few hundred seeds; all of them within two minutes on a machine without other load. */
const MUTANT_SEEDS = 2_000;
const TIMEOUT_MS = 300_000;

test(
  `nothing acknowledged is lost in ${SEEDS} lives of a volume`,
  async () => {
    const folder = compile();
    const { seeds, failures } = await search({ folder, first: 1, last: SEEDS });
    const [first] = failures;
    expect(first && `${first.failure}\n${first.story.join('\n')}`).toBeUndefined();
    expect(seeds).toBe(SEEDS);
  },
  TIMEOUT_MS,
);

/** For the others: `node tools/data-path-search.mjs --mutant <name>`. */
test.each(MUTANTS.filter(({ isByHand }) => isByHand !== true))(
  'it is found out when $hole',
  async (mutant) => {
    const { failures } = await search({
      folder: compile(mutant),
      first: 1,
      last: MUTANT_SEEDS,
      args: ['1000', mutant.disks ?? 'any', ...mutant.faults],
      isFinal: ({ failure }) => failure !== null,
    });
    expect(failures.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
