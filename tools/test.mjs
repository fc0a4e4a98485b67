// Entry of `npm test`: installs, builds, then runs every test of the repository in one Jest run. Arguments go to Jest,
// so `npm test -- packages/core` runs one room. Ends with the plain line `N passed, M failed`.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { build, install, quietEnvironment, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';

requireSupportedPlatform();
install();
build();
ensureBrowser();

const { plainLine } = await import('./jest/plain-line-reporter.mjs');
const chosen = process.argv.slice(2);
const counts = runJest(chosen);
// Beside five hundred others a suite may have waited for the machine (docs/adr/0315). Of those that were chosen each counts as it went.
if (counts.late.length > 0 && chosen.length === 0) {
  console.log(`holdfast: late beside others, so run again alone: ${counts.late.join(' ')}`);
  const again = runJest(['--maxWorkers=1', '--runTestsByPath', ...counts.late]);
  counts.passed += counts.failed - again.failed;
  counts.failed = again.failed;
}
console.log(plainLine(counts));
process.exit(counts.failed === 0 ? 0 : 1);

function runJest(args) {
  const countsFile = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-test-')), 'counts.json');
  const jest = path.join(repositoryRoot, 'node_modules', 'jest', 'bin', 'jest.js');
  const { status } = spawnSync(
    process.execPath,
    ['--experimental-vm-modules', '--no-warnings', jest, ...args],
    {
      cwd: repositoryRoot,
      stdio: 'inherit',
      env: {
        ...process.env,
        ...quietEnvironment,
        ...deploymentEnvironment(),
        HOLDFAST_TEST_COUNTS: countsFile,
      },
    },
  );
  const told = fs.existsSync(countsFile)
    ? JSON.parse(fs.readFileSync(countsFile, 'utf8'))
    : { passed: 0, failed: 1, skipped: 0, late: [] };
  // Jest can fail without a failing test (a leaked handle under --detectOpenHandles, a broken configuration).
  if (status !== 0 && told.failed === 0) return { ...told, failed: 1, late: [] };
  return told;
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
