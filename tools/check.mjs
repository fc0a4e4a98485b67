// `npm run check`: types, lint, imports between rooms, unused code. Each tool keeps a cache in node_modules/.cache, so that a run after a
// small change takes seconds. Two tools at once, the slowest first. Fails with the output of those that found something.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const cache = path.join(root, 'node_modules', '.cache', 'holdfast', 'check');
const TOOLS_AT_ONCE = 2;

const tsc = (name, project) => ({
  name,
  script: 'typescript/bin/tsc',
  args: [
    '-p',
    project,
    '--noEmit',
    '--incremental',
    '--tsBuildInfoFile',
    path.join(cache, `${name}.tsbuildinfo`),
  ],
});

/** What has to find no fault. `script` is a file of a package in node_modules. */
export const TOOLS = [
  tsc('types', 'tsconfig.json'),
  {
    name: 'imports between rooms',
    script: 'dependency-cruiser/bin/dependency-cruise.mjs',
    args: [
      '--config',
      '.dependency-cruiser.cjs',
      '--cache',
      path.join(cache, 'imports'),
      '--cache-strategy',
      'content',
      'apps',
      'packages',
    ],
  },
  {
    name: 'unused code',
    script: 'knip/bin/knip.js',
    args: ['--no-progress', '--cache', '--cache-location', path.join(cache, 'unused')],
  },
  tsc('types of the console', 'apps/console/tsconfig.json'),
  tsc('types of the console primitives', 'packages/ui/tsconfig.json'),
  { name: 'format and lint', script: '@biomejs/biome/bin/biome', args: ['check', '.'] },
];

/** Runs one tool. Resolves with its exit code, output and time. */
export function runTool({ script, args }) {
  const startedAtMs = Date.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [path.join(root, 'node_modules', script), ...args], {
      cwd: root,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text) => {
        output += text;
      });
    }
    child.once('error', reject);
    child.once('close', (exitCode) =>
      resolve({ exitCode, output, seconds: (Date.now() - startedAtMs) / 1000 }),
    );
  });
}

async function main() {
  fs.mkdirSync(cache, { recursive: true });
  const waiting = [...TOOLS];
  let failed = 0;
  const work = async () => {
    for (let tool = waiting.shift(); tool !== undefined; tool = waiting.shift()) {
      const { exitCode, output, seconds } = await runTool(tool);
      console.log(`${exitCode === 0 ? '✓' : '✕'} ${tool.name} (${seconds.toFixed(1)} s)`);
      if (exitCode === 0) continue;
      failed += 1;
      console.log(output);
    }
  };
  await Promise.all(Array.from({ length: TOOLS_AT_ONCE }, work));
  process.exit(failed === 0 ? 0 : 1);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
