/** README's tour as it is printed, in one shell against a fresh stack. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { cleanEnvironment } from '@holdfast/testkit/cluster-home.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { isAsPrinted, type Step, stepsOf, TypedShell } from '@holdfast/testkit/printed-tour.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const [start, ...steps] = stepsOf(
  fs.readFileSync(path.join(repositoryRoot, 'README.md'), 'utf8'),
  'A tour of five minutes',
);
/** A reader looks again when what was done shows a moment later. */
const LOOKS = /^npx holdfast \w+ (list|get|risk|explain)\b/;
const hasClient = spawnSync('nbdcopy', ['--version']).status === 0;

let stack: LocalStack;
let shell: TypedShell;

beforeAll(async () => {
  stack = await LocalStack.start({ console: true });
  const place = { HOLDFAST_HOME: stack.home, HOLDFAST_PORT_BASE: String(stack.portBase) };
  shell = new TypedShell(repositoryRoot, { ...cleanEnvironment(), ...place });
});
afterAll(async () => {
  await shell?.run('rm -f "$DATA"');
  shell?.end();
  await stack?.destroy();
});

test('the stack starts with the words that are printed', () => {
  expect(start?.command).toBe('npm start');
  expect(difference(stack.output, start)).toBeUndefined();
});

// Steps build on each other, so the first that differs ends the tour.
(hasClient ? test : test.skip)('each command prints what is printed', async () => {
  expect(steps.length).toBeGreaterThan(20);
  for (const step of steps) {
    const ask = async () => difference(await shell.run(step.command), step);
    const found = LOOKS.test(step.command)
      ? await eventually(step.command, ask, (answer) => answer === undefined)
      : await ask();
    expect(found).toBeUndefined();
  }
});

function difference(output: string, step: Step | undefined) {
  if (step === undefined) return 'the tour has no steps';
  return isAsPrinted(output, step.output) ? undefined : { ...step, printed: step.output, output };
}
