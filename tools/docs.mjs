// `npm run docs`: writes everything in the repository that is made of its sources: the API's document and its types, the pages of
// settings, events, permissions and metrics, and the JSON schemas of docs/. The suites that compare these write them here.
//
//   npm run docs                 all of these, in half a minute
//   npm run docs -- --examples   also the examples of answers in the API's document, recorded from a running API
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { repositoryRoot } from './bootstrap.mjs';
import { jestCommand } from './jest/command.mjs';
import { writeDocument } from './openapi.mjs';

/** Suites that write what they compare, with the variable by which they do. */
export const WRITING_SUITES = {
  'tools/checks/reference-pages.test.ts': 'HOLDFAST_WRITE_PAGES',
  'packages/simulator/test/documentation.test.ts': 'HOLDFAST_WRITE_SCHEMA',
  'packages/longhorn/test/documentation.test.ts': 'HOLDFAST_WRITE_SCHEMA',
};
/** Starts an API and a Postgres, and asks every operation. */
export const RECORDING_SUITES = { 'apps/api/test/answer-examples.test.ts': 'HOLDFAST_WRITE_PAGES' };

/** Written without regard to line breaks. */
const SCHEMAS = ['docs/scenario.schema.json', 'docs/longhorn-inspect.schema.json'];

function run(script, args) {
  const file = path.join(repositoryRoot, 'node_modules', script);
  const { status } = spawnSync(process.execPath, [file, ...args], { cwd: repositoryRoot, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

function write(suites) {
  for (const [suite, variable] of Object.entries(suites)) {
    const { status } = spawnSync(process.execPath, jestCommand(repositoryRoot, '--maxWorkers=1', suite), {
      cwd: repositoryRoot,
      env: { ...process.env, [variable]: '1' },
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    if (status !== 0) process.exit(status ?? 1);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  writeDocument();
  if (process.argv.includes('--examples')) {
    write(RECORDING_SUITES);
    // The examples stand in the document.
    writeDocument();
  }
  write(WRITING_SUITES);
  run('@biomejs/biome/bin/biome', ['format', '--write', ...SCHEMAS]);
}
