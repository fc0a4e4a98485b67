/** What docs/scenarios.md says is so: the example's output, and the schema that editors check files by. */
import fs from 'node:fs';
import path from 'node:path';
import { scenarioJsonSchema } from '@holdfast/scenario/json-schema.js';
import { readScenario } from '@holdfast/scenario/read-scenario.js';
import { resultText } from '@holdfast/scenario/result-text.js';
import { runScenario } from '@holdfast/scenario/run-scenario.js';
import { STEPS } from '@holdfast/scenario/steps.js';
import { SimDriver } from '@holdfast/simulator/scenario/sim-driver.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { describe, expect, test } from '@jest/globals';

const page = fs.readFileSync(path.join(repositoryRoot, 'docs/scenarios.md'), 'utf8');

/** The block that follows a marker. */
function block(marker: string): string {
  const [, text = ''] = page.split(`<!-- ${marker} -->`);
  return /```\w*\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
}

async function outputOf(text: string): Promise<string> {
  const read = readScenario(text);
  if (read.kind === 'wrong') throw new Error(JSON.stringify(read.problems));
  const result = await runScenario(read.scenario, new SimDriver(read.scenario.seed));
  return `${resultText('example.yaml', read.scenario, result)}\n`;
}

describe('docs/scenarios.md', () => {
  const example = block('example');

  test("shows the example's output as it is", async () => {
    expect(block('output')).toBe(`${await outputOf(example)}1 passed, 0 failed\n`);
  });

  test('shows what a failing expectation prints', async () => {
    const wrong = example.replace('healthyOn: [n1, n2, n4]', 'healthyOn: [n1, n2, n3]');
    expect(block('failure')).toBe(await outputOf(wrong));
  });

  test('names every step', () => {
    const [, text = ''] = page.split('<!-- steps -->');
    const named = new Set([...text.matchAll(/`(\w+)`/g)].map(([, name]) => name));
    expect(Object.keys(STEPS).filter((step) => !named.has(step))).toEqual([]);
  });
});

test('the JSON schema is made of what files are checked by', () => {
  const file = path.join(repositoryRoot, 'docs/scenario.schema.json');
  const wanted = `${JSON.stringify(scenarioJsonSchema(), null, 2)}\n`;
  if (process.env.HOLDFAST_WRITE_SCHEMA === '1') fs.writeFileSync(file, wanted);
  expect(JSON.parse(fs.readFileSync(file, 'utf8'))).toEqual(JSON.parse(wanted));
});
