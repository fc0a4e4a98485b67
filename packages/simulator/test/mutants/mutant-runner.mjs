// Runner of the fault search over mutated rules: compiles core, control, scenario and simulator into a folder of their own,
// with the mutant in them, and runs seeds there in child processes. Without Jest, which would transform and watch that code.
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { transformSync } from '@swc/core';

const here = path.dirname(fileURLToPath(import.meta.url));
const packagesDir = path.resolve(here, '../../..');
const OUTPUT = path.join(packagesDir, 'simulator', '.simulation');
const ROOMS = ['core', 'control', 'scenario', 'simulator'];
/** What these rooms take from npm, and the room in whose folder it is installed. */
const LIBRARIES = { zod: 'core', croner: 'core', yaml: 'scenario' };

/**
 * @param mutant `{ name, changes: [{ file, find, replace }] }`: each `find` must stand exactly once in its file
 * @returns the folder to run from
 */
export function compile(mutant) {
  const output = path.join(OUTPUT, mutant.name);
  fs.rmSync(output, { recursive: true, force: true });
  const changed = new Set();
  for (const file of ROOMS.flatMap(listSources)) {
    const target = path.join(output, file.replace(/\.ts$/, '.js'));
    const code = transformed(file, mutate(file, mutant, changed), changed.has(file));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(target, withPaths(code, path.dirname(target), output));
  }
  const missed = mutant.changes.filter(({ file }) => !changed.has(file));
  if (missed.length > 0) throw new Error(`${mutant.name} names no file: ${missed.map(({ file }) => file)}`);
  const modules = path.join(output, 'node_modules');
  fs.mkdirSync(modules, { recursive: true });
  for (const [library, room] of Object.entries(LIBRARIES)) {
    fs.symlinkSync(
      fs.realpathSync(path.join(packagesDir, room, 'node_modules', library)),
      path.join(modules, library),
    );
  }
  fs.writeFileSync(path.join(output, 'package.json'), '{ "type": "module" }\n');
  return output;
}

/** Code of the files that a mutant leaves as they are, which are most: each is compiled once. */
const unchanged = new Map();

function transformed(file, text, isChanged) {
  const known = isChanged ? undefined : unchanged.get(file);
  if (known !== undefined) return known;
  const { code } = transformSync(text, {
    filename: file,
    sourceMaps: 'inline',
    jsc: { parser: { syntax: 'typescript' }, target: 'es2022', keepClassNames: true },
    module: { type: 'es6' },
  });
  if (!isChanged) unchanged.set(file, code);
  return code;
}

/** Imports of other rooms as paths within the output. */
function withPaths(code, from, output) {
  return code.replace(/(['"])@holdfast\/(core|control|scenario|simulator)\//g, (_, quote, room) => {
    const to = path.relative(from, path.join(output, room, 'src'));
    return `${quote}${to.startsWith('.') ? to : `./${to}`}/`;
  });
}

function listSources(room) {
  const folder = path.join(room, 'src');
  return fs
    .readdirSync(path.join(packagesDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => path.relative(packagesDir, path.join(entry.parentPath, entry.name)));
}

function mutate(file, { name, changes }, changed) {
  let text = fs.readFileSync(path.join(packagesDir, file), 'utf8');
  for (const change of changes) {
    if (change.file !== file) continue;
    const times = text.split(change.find).length - 1;
    if (times !== 1) throw new Error(`${name}: this stands ${times} times in ${file}: ${change.find}`);
    text = text.replace(change.find, () => change.replace);
    changed.add(file);
  }
  return text;
}

/** @returns the first seed from `first` to `last` that fails, with its problems; `undefined`: none does */
export async function firstFailure(folder, { first, last, hours }) {
  const args = [path.join(here, 'search-main.mjs'), pathToFileURL(folder).href, first, last, hours].map(
    String,
  );
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 16 * 1024 * 1024 });
  return stdout === '' ? undefined : JSON.parse(stdout);
}

/** Removes what `compile` wrote. */
export function clean() {
  fs.rmSync(OUTPUT, { recursive: true, force: true });
}
