/** Runs the fault search over a range of seeds, up to the first one that breaks an invariant. */
import { generateScenario } from './generate.js';
import { runSearch } from './run-search.js';

const SIZE = { hours: 0.5 };

type Searched = {
  /** The violation, with its seed. */
  readonly problems: readonly string[];
  /** Volumes were written to often enough for the runs to mean something. */
  readonly isUsed: boolean;
};

export async function searchSeeds(first: number, last: number): Promise<Searched> {
  let acknowledged = 0;
  for (let seed = first; seed <= last; seed += 1) {
    const run = await runSearch(generateScenario(seed, SIZE));
    acknowledged += run.acknowledged;
    if (run.problems.length === 0) continue;
    return { problems: run.problems.map((problem) => `seed ${seed}: ${problem}`), isUsed: true };
  }
  return { problems: [], isUsed: acknowledged > 2 * (last - first + 1) };
}
