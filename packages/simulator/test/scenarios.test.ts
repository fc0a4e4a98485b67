/** Every scenario file of the repository, run in the simulator. */
import fs from 'node:fs';
import path from 'node:path';
import { readScenario } from '@holdfast/scenario/read-scenario.js';
import { runScenario } from '@holdfast/scenario/run-scenario.js';
import { SimDriver } from '@holdfast/simulator/scenario/sim-driver.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { expect, test } from '@jest/globals';

const FOLDER = path.join(repositoryRoot, 'scenarios');
const files = fs.readdirSync(FOLDER).filter((file) => file.endsWith('.yaml'));

test.each(files)('the scenario in %s passes in the simulator', async (file) => {
  const read = readScenario(fs.readFileSync(path.join(FOLDER, file), 'utf8'));
  if (read.kind === 'wrong') throw new Error(JSON.stringify(read.problems));
  const result = await runScenario(read.scenario, new SimDriver(read.scenario.seed));
  const told =
    result.kind === 'passed'
      ? ''
      : `${file}:${result.line} ${result.problems.join('\n')}\n${result.timeline}`;
  expect(told).toBe('');
});
