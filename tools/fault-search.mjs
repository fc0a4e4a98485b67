// Full search for the mutants of the simulated control plane: prints the first seed that finds each. Not part of
// `npm test`, which runs only that seed. `node tools/fault-search.mjs [mutant…]`
import { clean, compile, firstFailure } from '../packages/simulator/test/mutants/mutant-runner.mjs';
import { MUTANTS } from '../packages/simulator/test/mutants/mutants.mjs';

const SEEDS_MAX = 1_000;
const HOURS = 0.5;

const names = process.argv.slice(2);
let missed = 0;
for (const mutant of MUTANTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const found = await firstFailure(compile(mutant), { first: 1, last: SEEDS_MAX, hours: HOURS });
  if (found === undefined) missed += 1;
  const told =
    found === undefined ? `not found in ${SEEDS_MAX} seeds` : `seed ${found.seed}: ${found.problems[0]}`;
  console.log(`${mutant.name}: ${told}`);
}
clean();
process.exit(missed === 0 ? 0 : 1);
