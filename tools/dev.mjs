// Entry of `npm run dev`: the local stack on what is saved. A saved source is compiled into its package's dist, and the API or the worker is
// started again where it uses that package; Next replaces changed pages of the console in the browser. Agents go on: their end stands for
// the death of a node, so a change of theirs is used once they are started again. Data stays as it does with `npm start`.
import fs from 'node:fs';
import path from 'node:path';
import { build, install, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';

/** Editors write a file in several steps, and tools write several files at once. */
const QUIET_MS = 100;
const SERVICES = ['api', 'worker'];
/** The API loses at most the answers under way, and need not drain first; a worker hands over its jobs. */
const END = { api: 'SIGKILL', worker: 'SIGTERM' };

requireSupportedPlatform();
install();
build({ without: ['@holdfast/bench', '@holdfast/console'] });
const { compileFile, isSource } = await import('./build.mjs');
process.env.HOLDFAST_DEVELOPMENT = 'true';
await import('../apps/local/dist/main.js');

const home = path.resolve(process.env.HOLDFAST_HOME ?? path.join(repositoryRoot, '.holdfast'));
const packages = new Map(
  ['apps', 'packages'].flatMap((folder) => packagesIn(folder)).map((entry) => [entry.name, entry]),
);
const users = new Map([...packages.keys()].map((name) => [name, servicesThatUse(name)]));
const saved = new Set();
let timer;
for (const entry of packages.values()) watch(entry);

function packagesIn(folder) {
  return fs.readdirSync(path.join(repositoryRoot, folder)).flatMap((name) => {
    const directory = path.join(repositoryRoot, folder, name);
    if (!fs.existsSync(path.join(directory, 'package.json'))) return [];
    const { name: packageName, dependencies = {} } = JSON.parse(
      fs.readFileSync(path.join(directory, 'package.json'), 'utf8'),
    );
    return [{ name: packageName, directory, dependencies: Object.keys(dependencies) }];
  });
}

/** The services whose package is the given one, or depends on it. */
function servicesThatUse(name) {
  const reaches = (from) => from === name || (packages.get(from)?.dependencies ?? []).some(reaches);
  return SERVICES.filter((service) => reaches(`@holdfast/${service}`));
}

function watch(entry) {
  const source = path.join(entry.directory, 'src');
  // The console's pages are compiled by Next.
  if (entry.name === '@holdfast/console' || !fs.existsSync(source)) return;
  fs.watch(source, { recursive: true }, (_event, file) => {
    if (file === null || !isSource(file)) return;
    saved.add(JSON.stringify({ name: entry.name, directory: entry.directory, file }));
    clearTimeout(timer);
    timer = setTimeout(() => void apply(), QUIET_MS);
  });
}

async function apply() {
  const files = [...saved].map((text) => JSON.parse(text));
  saved.clear();
  try {
    for (const { directory, file } of files) await compileFile(directory, file);
  } catch (error) {
    // A source in the middle of being written; the services go on with what they have.
    console.error(`holdfast: ${error instanceof Error ? error.message : error}`);
    return;
  }
  const concerned = new Set(files.flatMap(({ name }) => users.get(name) ?? []));
  console.log(`holdfast: saved ${files.map(({ file }) => file).join(', ')}; ${restarted(concerned)}`);
  if (files.some(({ name }) => name === '@holdfast/agent' || name === '@holdfast/data-engine'))
    console.log('holdfast: agents use it once they are started again: npx holdfast local start-agent node-1');
}

/** Ends services, which the stack then starts again. */
function restarted(services) {
  const { processes } = JSON.parse(fs.readFileSync(path.join(home, 'local.json'), 'utf8'));
  for (const service of services) if (processes[service] > 0) process.kill(processes[service], END[service]);
  return services.size === 0 ? 'no service uses it' : `${[...services].join(' and ')} started again`;
}
