// Entry of `npm test`: installs what is missing, builds where a chosen suite starts built processes, and runs Jest. Ends with the suites
// that took longest and the plain line `N passed, M failed`.
//
//   npm test                      every rule once
//   npm run test:all              everything
//   npm test -- --long            the long suites that CI runs after npm test
//   npm test -- --since <commit>  the suites that the changes since a commit concern (tools/jest/concerned-suites.mjs)
//   npm test -- packages/core     suites by a part of their path; further arguments go to Jest
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  build,
  generate,
  install,
  quietEnvironment,
  repositoryRoot,
  requireSupportedPlatform,
} from './bootstrap.mjs';
import { jestCommand } from './jest/command.mjs';

requireSupportedPlatform();
install();
const { describe, plainLine, sumOf } = await import('./jest/summary-reporter.mjs');

const startedAtMs = Date.now();
const runs = plan(process.argv.slice(2));
prepare(runs);
const summary = sumOf(runs.map(runJest));
summary.wallSeconds = (Date.now() - startedAtMs) / 1000;
console.log(describe(summary));
console.log(plainLine(summary));
process.exit(summary.failed === 0 ? 0 : 1);

/** The runs of Jest that the arguments ask for, one after the other. */
function plan([first, ...names]) {
  const quick = { scope: 'quick', args: [] };
  const long = [{ scope: 'long', args: [] }];
  const rest = [...long, { scope: 'night', args: [] }, { scope: 'networks', args: [] }];
  if (first === undefined) return [quick];
  if (first === '--all' && names.length > 0) return [{ scope: 'all', args: names }];
  if (first === '--all') return [quick, ...rest];
  if (first === '--long') return long;
  if (first === '--since') return [{ scope: 'quick', args: concernedBy(names) }];
  return [{ scope: 'all', args: [first, ...names] }];
}

function concernedBy([commit, ...rest]) {
  if (commit === undefined) end(2, 'npm test -- --since needs a commit, such as HEAD or main');
  const script = path.join(repositoryRoot, 'tools/jest/concerned-suites.mjs');
  const { status, stdout } = spawnSync(process.execPath, [script, commit], {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) process.exit(status ?? 1);
  const suites = stdout.split('\n').filter((line) => line !== '');
  console.log(`holdfast: ${suites.length} suites are concerned by what changed since ${commit}`);
  if (suites.length === 0) end(0, '0 passed, 0 failed');
  return ['--runTestsByPath', ...suites, ...rest];
}

/** Builds, and installs a browser, where a chosen suite starts what is built. */
function prepare(chosen) {
  const isBuilt = chosen.some(
    ({ scope, args }) => listTests(scope, ['--selectProjects', 'built', ...args]).length > 0,
  );
  if (!isBuilt) {
    generate();
    return;
  }
  build();
  ensureBrowser();
}

function listTests(scope, args) {
  const { stdout } = jest(scope, ['--listTests', '--passWithNoTests', ...args], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return stdout.split('\n').filter((line) => line.endsWith('.ts'));
}

function runJest({ scope, args }) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-test-')), 'summary.json');
  const { status } = jest(scope, args, { stdio: 'inherit', env: { HOLDFAST_TEST_SUMMARY: file } });
  const nothing = {
    passed: 0,
    failed: 0,
    skipped: 0,
    wallSeconds: 0,
    workerSeconds: 0,
    partsSeconds: 0,
    peakBytes: 0,
    suites: [],
  };
  const told = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : nothing;
  // Jest can fail without a failing test: a configuration that is broken, or no suite of that name.
  if (status !== 0 && told.failed === 0) return { ...told, failed: 1 };
  return told;
}

function jest(scope, args, { stdio, env = {} }) {
  return spawnSync(process.execPath, jestCommand(repositoryRoot, ...args), {
    cwd: repositoryRoot,
    encoding: 'utf8',
    stdio,
    env: {
      ...process.env,
      ...quietEnvironment,
      ...deploymentEnvironment(),
      HOLDFAST_TEST_SCOPE: scope,
      ...env,
    },
  });
}

/**
 * `npm test -- compose` asks for the test of docker-compose.yml, and `npm test -- upgrade` for the one that upgrades it. Both take
 * minutes and need a Docker daemon.
 */
function deploymentEnvironment() {
  return {
    ...(process.argv.includes('compose') ? { HOLDFAST_TEST_COMPOSE: '1' } : {}),
    ...(process.argv.includes('upgrade') ? { HOLDFAST_TEST_UPGRADE: '1' } : {}),
  };
}

/** Installs a Chromium for the console's tests, which is possible as root on Debian; elsewhere they are skipped. */
function ensureBrowser() {
  const names = ['chromium', 'chromium-browser', 'google-chrome'];
  const found = names.some((name) => spawnSync('which', [name], { stdio: 'ignore' }).status === 0);
  const canInstall =
    process.getuid?.() === 0 && spawnSync('which', ['apt-get'], { stdio: 'ignore' }).status === 0;
  if (found || !canInstall) return;
  console.log("holdfast: installing Chromium for the console's tests");
  const options = {
    stdio: 'ignore',
    timeout: 300_000,
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  };
  spawnSync('apt-get', ['update', '-qq'], options);
  spawnSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], options);
}

function end(code, message) {
  (code === 0 ? console.log : console.error)(code === 0 ? message : `holdfast: ${message}`);
  process.exit(code);
}
