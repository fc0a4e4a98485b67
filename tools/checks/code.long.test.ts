/** What `npm run check` asks of the code, and that no secret stands in it. */
import { expect, test } from '@jest/globals';
import { TOOLS } from '../check.mjs';
import { runTool, trackedFiles } from './run-tool.js';

const SECRETS = { name: 'no secrets', script: 'secretlint/bin/secretlint.js', args: trackedFiles() };

test.each([...TOOLS, SECRETS])('the tool finds no fault: $name', ({ script, args }) => {
  const { exitCode, output } = runTool(script, args);
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
});
