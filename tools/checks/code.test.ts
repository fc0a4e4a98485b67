import { expect, test } from '@jest/globals';
import { runTool, trackedFiles } from './run-tool.js';

test.each([
  { name: 'format and lint', script: '@biomejs/biome/bin/biome', args: ['check', '.'] },
  { name: 'types', script: 'typescript/bin/tsc', args: ['-p', 'tsconfig.json'] },
  {
    name: 'types of the console',
    script: 'typescript/bin/tsc',
    args: ['-p', 'apps/console/tsconfig.json', '--noEmit'],
  },
  {
    name: 'types of the console primitives',
    script: 'typescript/bin/tsc',
    args: ['-p', 'packages/ui/tsconfig.json'],
  },
  { name: 'no secrets', script: 'secretlint/bin/secretlint.js', args: trackedFiles() },
  { name: 'nothing unused', script: 'knip/bin/knip.js', args: ['--no-progress'] },
])('the tool finds no fault: $name', ({ script, args }) => {
  const { exitCode, output } = runTool(script, args);
  expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' });
});
