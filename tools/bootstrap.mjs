// First step of `npm start` and `npm test` on a machine with only Node and npm: installs what the lockfile says when it
// has changed, then builds what has changed. Uses nothing but Node itself. Prints only when there is work to do.
import { spawnSync } from 'node:child_process';
import crypto from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const inRoot = (...parts) => path.join(repositoryRoot, ...parts);
const installStamp = inRoot('node_modules', '.holdfast-install');

/** Environment that keeps tools from calling home, or from stalling without a network. */
export const quietEnvironment = {
  TURBO_TELEMETRY_DISABLED: '1',
  NEXT_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
  CHECKPOINT_DISABLE: '1',
  PRISMA_HIDE_UPDATE_MESSAGE: '1',
};

/** @param output where the command's output goes: `inherit`, or a file descriptor such as 2 */
function run(command, args, output = 'inherit') {
  const result = spawnSync(command, args, {
    cwd: repositoryRoot,
    stdio: ['ignore', output, 'inherit'],
    env: {
      ...process.env,
      ...quietEnvironment,
      PATH: `${inRoot('node_modules', '.bin')}${path.delimiter}${process.env.PATH}`,
    },
  });
  if (result.status !== 0) {
    console.error(`holdfast: ${path.basename(command)} ${args.join(' ')} failed`);
    process.exit(result.status ?? 1);
  }
}

/** Hash of the lockfile and the list of packages: a change of either means a new install. */
function installFingerprint() {
  const hash = crypto.createHash('sha256');
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json'])
    hash.update(fs.readFileSync(inRoot(file)));
  return hash.digest('hex');
}

export function requireSupportedPlatform() {
  const [major] = process.versions.node.split('.').map(Number);
  if (major < 20) fail(`Node ${process.versions.node} is too old; Node 20 or newer is needed`);
  const glibc = process.report?.getReport().header.glibcVersionRuntime;
  if (process.platform !== 'linux' || process.arch !== 'x64' || glibc === undefined) {
    fail(`the local stack needs Linux on x64 with glibc; this is ${process.platform} on ${process.arch}`);
  }
}

function fail(message) {
  console.error(`holdfast: ${message}`);
  process.exit(1);
}

export function install({ output } = {}) {
  const fingerprint = installFingerprint();
  if (fs.existsSync(installStamp) && fs.readFileSync(installStamp, 'utf8') === fingerprint) return;
  const { packageManager } = JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8'));
  console.error('holdfast: installing packages (first time, about half a minute)');
  // pnpm from node_modules when it is there: npx asks the registry each time, and stalls without a network.
  const localPnpm = inRoot('node_modules', '.bin', 'pnpm');
  const args = [
    'install',
    '--frozen-lockfile',
    '--prefer-offline',
    '--reporter=append-only',
    '--loglevel=error',
  ];
  if (fs.existsSync(localPnpm)) run(localPnpm, args, output);
  else run('npx', ['-y', packageManager, ...args], output);
  fs.writeFileSync(installStamp, fingerprint);
}

/** Makes the sources that are generated, which is all that a process on sources needs. */
export function generate({ output } = {}) {
  runTurbo('generate', [], output);
}

/** Builds through turbo, which skips unchanged packages. `without` names packages to leave out. */
export function build({ without = [], output } = {}) {
  const filters = without.map((name) => `--filter=!${name}`);
  runTurbo('build', filters, output);
}

function runTurbo(task, filters, output) {
  const turbo = inRoot('node_modules', 'turbo', 'bin', 'turbo');
  const flags = ['--ui=stream', '--output-logs=errors-only', '--log-order=grouped'];
  run(process.execPath, [turbo, 'run', task, ...flags, ...filters], output);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  requireSupportedPlatform();
  install();
  build();
}
