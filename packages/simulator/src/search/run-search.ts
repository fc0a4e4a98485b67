/** One run of the fault search: a random scenario, run and healed; and the smallest scenario that fails alike. */
import { scenarioOf } from '@holdfast/scenario/read-scenario.js';
import { runScenario, type ScenarioResult } from '@holdfast/scenario/run-scenario.js';
import { SimDriver } from '../scenario/sim-driver.js';
import type { ScenarioValue } from './generate.js';

export type SearchRun = {
  readonly problems: readonly string[];
  /** Virtual time, the healing included. */
  readonly seconds: number;
  readonly acknowledged: number;
};

export async function runSearch(value: ScenarioValue): Promise<SearchRun> {
  const read = scenarioOf(value);
  if (read.kind === 'wrong') throw new Error(read.problems.map(({ message }) => message).join('; '));
  const driver = new SimDriver(read.scenario.seed, { isWatched: false });
  const result = await runScenario(read.scenario, driver);
  return { problems: problemsOf(result), seconds: driver.now(), acknowledged: driver.acknowledged };
}

function problemsOf(result: ScenarioResult): readonly string[] {
  return result.kind === 'passed' ? [] : result.problems;
}
