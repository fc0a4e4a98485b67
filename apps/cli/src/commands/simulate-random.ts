/** `holdfast simulate --random`: the fault search. Random scenarios are run until one fails, which is shrunk to a file. */
import { writeFile } from 'node:fs/promises';
import {
  generateScenario,
  type ScenarioValue,
  type SearchSize,
} from '@holdfast/simulator/search/generate.js';
import { runSearch } from '@holdfast/simulator/search/run-search.js';
import { shrink } from '@holdfast/simulator/search/shrink.js';
import { print, remark } from '../context.js';
import { EXIT } from '../exit-codes.js';
import { stringify } from '../output/yaml-library.js';

const SECONDS_PER_DAY = 86_400;

export type SearchRequest = {
  readonly seeds: readonly number[];
  readonly size: SearchSize;
};

/** Prints each seed that fails, with a file that replays the least that fails; the last line is `N passed, M failed`. */
export async function searchFaults({ seeds, size }: SearchRequest): Promise<void> {
  const startedMs = Date.now();
  let failed = 0;
  let simulatedSeconds = 0;
  for (const seed of seeds) {
    const value = generateScenario(seed, size);
    const { problems, seconds } = await runSearch(value);
    simulatedSeconds += seconds;
    if (problems.length === 0) continue;
    failed += 1;
    print(`FAILED  seed ${seed}: ${problems.join('; ')}`);
    print(`  replay: ${await shrunkFile(value)}`);
  }
  const days = simulatedSeconds / SECONDS_PER_DAY;
  const minutes = (Date.now() - startedMs) / 60_000;
  remark(
    `${days.toFixed(1)} cluster-days in ${(minutes * 60).toFixed(1)} s, ${(days / minutes).toFixed(0)} a minute`,
  );
  print(`${seeds.length - failed} passed, ${failed} failed`);
  if (failed > 0) process.exitCode = EXIT.unsatisfied;
}

async function shrunkFile(value: ScenarioValue): Promise<string> {
  const fails = async (smaller: ScenarioValue) => (await runSearch(smaller)).problems.length > 0;
  const { value: least, runs } = await shrink(value, fails);
  const file = `seed-${value.seed}.yaml`;
  await writeFile(file, stringify(least));
  return `npx holdfast simulate ${file} (${least.steps.length} of ${value.steps.length} steps, after ${runs} runs)`;
}
