/**
 * Runs engines, copies and disks of one volume in virtual time, by seed (docs/adr/0128): all promises hold whatever happens,
 * and with a rule broken on purpose some seed finds it.
 */
import { expect, test } from '@jest/globals';
import { MUTANTS } from './simulation/mutants.mjs';
import { compile, search } from './simulation/runner.mjs';

const SEEDS = 400;
/** Three times what the slowest of those that are planted here took. */
const MUTANT_SEEDS = 500;
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

/** The others take more seeds than there is time for here: `node tools/data-path-search.mjs --mutant <name>`. */
test.each(MUTANTS.filter(({ isSoonFound }) => isSoonFound))(
  'it is found out when $hole',
  async (mutant) => {
    const { failures } = await search({
      folder: compile(mutant),
      first: 1,
      last: MUTANT_SEEDS,
      args: ['1000', ...mutant.faults],
      isFinal: ({ failure }) => failure !== null,
    });
    expect(failures.length).toBeGreaterThan(0);
  },
  TIMEOUT_MS,
);
