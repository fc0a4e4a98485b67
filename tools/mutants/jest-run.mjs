// One bounded run of Jest in a copy of the repository: which suites failed there, and how.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { jestCommand } from '../jest/command.mjs';

/** From the polite signal to the one that no process outlives. */
const KILL_AFTER_MS = 5_000;
/** What `suite-reporter.mjs` writes, in the folder of temporary files. */
const REPORT = 'suites.jsonl';

/** Process groups of runs that have not ended. */
const running = new Set();

/** Ends all runs at once. */
export function killRuns() {
  for (const pid of running) signalGroup(pid, 'SIGKILL');
}

/**
 * Runs suites until the first fails.
 *
 * @param suites paths below the copy
 * @returns `{ outcome, failed, seconds }`, where `outcome` is `passed`, `failed`, `timed out` or `crashed` (no test ran in a suite that
 *   failed), and `failed` are the suites with a failed test
 */
export async function runSuites(copy, suites, { limitMs, bail = true }) {
  const report = path.join(copy, 'tmp', REPORT);
  fs.rmSync(report, { force: true });
  const reporter = `--reporters=${path.join(copy, 'tools', 'mutants', 'suite-reporter.mjs')}`;
  const args = ['--silent', reporter, ...(bail ? ['--bail'] : []), '--runTestsByPath', ...suites];
  const startedAt = performance.now();
  const { timedOut, code } = await runJest(copy, args, limitMs);
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10;
  const ran = linesOf(report).map((line) => JSON.parse(line));
  const failed = ran.filter((suite) => suite.failed > 0).map((suite) => path.relative(copy, suite.path));
  if (failed.length > 0) return { outcome: 'failed', failed, seconds };
  if (timedOut) return { outcome: 'timed out', failed: suites.slice(ran.length, ran.length + 1), seconds };
  return { outcome: code === 0 ? 'passed' : 'crashed', failed, seconds };
}

function linesOf(file) {
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
}

/** Suites that import a file, directly or through others. */
export async function relatedSuites(copy, file, { limitMs }) {
  const resolver = path.join(copy, 'tools', 'mutants', 'source-resolver.cjs');
  const { output } = await runJest(
    copy,
    ['--listTests', `--resolver=${resolver}`, '--findRelatedTests', file],
    limitMs,
  );
  return output
    .split('\n')
    .filter((line) => line.startsWith(copy) && line.endsWith('.test.ts'))
    .map((line) => path.relative(copy, line))
    .sort();
}

function runJest(copy, args, limitMs) {
  const cache = `--cacheDirectory=${path.join(copy, 'tmp', 'jest-cache')}`;
  const all = jestCommand(copy, '--maxWorkers=1', '--ci', cache, ...args);
  return runBounded(copy, all, { cwd: copy, limitMs });
}

/** Builds the package that a file belongs to, in the copy. */
export async function buildPackageOf(copy, file, limitMs) {
  const cwd = path.join(copy, ...file.split('/').slice(0, 2));
  const { code, output } = await runBounded(copy, [path.join(copy, 'tools', 'build.mjs')], { cwd, limitMs });
  if (code !== 0) throw new Error(`${file}: its package can't be built: ${output}`);
}

/** Node in a process group of its own, which is killed when its time is over. Output goes by a file: a server left over keeps a pipe open. */
async function runBounded(copy, args, { cwd, limitMs }) {
  const temporary = path.join(copy, 'tmp');
  const outputFile = path.join(temporary, 'output.txt');
  // What the run that this is a part of chooses, and its worker, are none of this run's concern.
  const { NODE_OPTIONS: _, JEST_WORKER_ID: __, HOLDFAST_TEST_SCOPE: ___, ...inherited } = process.env;
  const env = {
    ...inherited,
    NO_COLOR: '1',
    TMPDIR: temporary,
    HOLDFAST_MUTANTS_REPORT: path.join(temporary, REPORT),
  };
  const output = fs.openSync(outputFile, 'w');
  const child = spawn(process.execPath, args, {
    cwd,
    env,
    detached: true,
    stdio: ['ignore', output, output],
  });
  fs.closeSync(output);
  running.add(child.pid);
  try {
    return { ...(await ended(child, limitMs)), output: fs.readFileSync(outputFile, 'utf8') };
  } finally {
    signalGroup(child.pid, 'SIGKILL');
    running.delete(child.pid);
  }
}

/** Resolves when the process has ended, on its own or because its time was over. */
function ended(child, limitMs) {
  return new Promise((resolve, reject) => {
    let timedOut = false;
    const ask = setTimeout(() => {
      timedOut = true;
      signalGroup(child.pid, 'SIGTERM');
    }, limitMs);
    const kill = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), limitMs + KILL_AFTER_MS);
    child.once('error', reject);
    child.once('exit', (code) => {
      clearTimeout(ask);
      clearTimeout(kill);
      resolve({ code, timedOut });
    });
  });
}

function signalGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}
