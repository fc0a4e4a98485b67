/** Runs every n-th seed of a range and writes one line of JSON for each: `main.js <first> <last> <step> [faultsMax]`. */
import { simulate } from './sim-run.js';

/** Of a run that fails, as much as anyone reads. */
const LINES_MAX = 300;

const [first = 1, last = 1, step = 1, faultsMax] = process.argv.slice(2).map(Number);

for (let seed = first; seed <= last; seed += step) {
  const { failure, story, events } = await simulate(
    seed,
    faultsMax === undefined ? undefined : { faultsMax },
  );
  const told = failure === undefined ? { failure: null } : { failure, story: story.slice(-LINES_MAX) };
  process.stdout.write(`${JSON.stringify({ seed, events, ...told })}\n`);
}
process.exit(0);
