// `node tools/jest/concerned-suites.mjs <commit>`: prints the suites that the changes since a commit concern, committed or not.
//
// A suite is concerned where its imports lead to a changed file, and where it is there to prove that file: nearly every suite reaches
// the model at the end, but a rule of core is proven by the suites of the rooms that are pure, and not once more by each suite that
// talks to an API. PROVEN_BY says which rooms' suites prove a room.
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { jestCommand } from './command.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Rooms whose suites prove a room, beside its own. */
const PROVEN_BY = {
  'packages/core': [
    'packages/access',
    'packages/control',
    'packages/longhorn',
    'packages/simulator',
    'packages/scenario',
  ],
  'packages/access': ['packages/control', 'packages/simulator', 'apps/api'],
  'packages/control': ['packages/simulator'],
  'packages/scenario': ['packages/simulator'],
  'packages/identity': ['apps/agent', 'apps/api'],
  'packages/data-engine': ['apps/agent'],
  'packages/database': ['apps/worker'],
  'packages/jobs': ['apps/worker'],
  'packages/api-client': ['apps/cli', 'apps/console'],
};
/** Whoever changes these changes what all suites stand on. */
const COMMON = 'packages/testkit';

const [commit] = process.argv.slice(2);
const changed = changedSince(commit);
const suites = relatedTo(changed.filter((file) => /^(apps|packages|tools)\/.*\.(tsx?|mjs)$/.test(file)));
const concerned = suites.filter((suite) => changed.some((file) => proves(suite, file)));
for (const suite of concerned) console.log(suite);

function changedSince(since) {
  const tracked = git('diff', '--name-only', '--diff-filter=d', since, '--');
  const untracked = git('ls-files', '--others', '--exclude-standard');
  return [...new Set([...tracked, ...untracked])];
}

function git(...args) {
  const { status, stdout, stderr } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  if (status === 0) return stdout.split('\n').filter((line) => line !== '');
  console.error(`holdfast: ${stderr.trim()}`);
  process.exit(2);
}

function relatedTo(files) {
  if (files.length === 0) return [];
  const args = ['--listTests', '--passWithNoTests', '--findRelatedTests', ...files];
  const { stdout } = spawnSync(process.execPath, jestCommand(root, ...args), {
    cwd: root,
    encoding: 'utf8',
    env: { ...process.env, HOLDFAST_TEST_SCOPE: 'quick' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return stdout
    .split('\n')
    .filter((line) => line.endsWith('.test.ts'))
    .map((file) => path.relative(root, file))
    .sort();
}

/** Whether a suite is there to prove a changed file: it is of the same room, or of one that proves that room. */
function proves(suite, file) {
  const [mine, theirs] = [roomOf(suite), roomOf(file)];
  return mine === theirs || theirs === COMMON || (PROVEN_BY[theirs]?.includes(mine) ?? false);
}

function roomOf(file) {
  const [first, second] = file.split('/');
  return first === 'tools' ? first : `${first}/${second}`;
}
