// `npm run --silent bench -- <name> [--quick]`: measures. One JSON object a line on stdout, a readable table on stderr.

import fs from 'node:fs';
import path from 'node:path';
import { build, install, repositoryRoot, requireSupportedPlatform } from './bootstrap.mjs';

const directory = path.join(repositoryRoot, 'tools', 'bench');
const names = fs
  .readdirSync(path.join(directory, 'src'))
  .filter((file) => file.endsWith('.bench.ts'))
  .map((file) => file.replace('.bench.ts', ''))
  .sort();

const [name, ...flags] = process.argv.slice(2);
if (!names.includes(name)) {
  console.error(`holdfast: name a benchmark: ${names.join(', ')}`);
  process.exit(2);
}

requireSupportedPlatform();
// Output of installing and building: stderr, because stdout has the figures only.
const STDERR = 2;
install({ output: STDERR });
build({ output: STDERR });

const { run } = await import(path.join(directory, 'dist', `${name}.bench.js`));
const { printTable } = await import(path.join(directory, 'dist', 'report.js'));
await run({ quick: flags.includes('--quick') });
printTable();
process.exit(0);
