// Runner of the simulation: compiles the data engine and its simulation into a separate folder, optionally with a
// mutant, and runs seeds in child processes until one fails. Without Jest, which would transform and watch code that
// only has to run.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { transformSync } from '@swc/core';

const packagesDir = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const OUTPUT = path.join(packagesDir, 'data-engine', '.simulation');
/** Core's rules are compiled too, so that a mutant can break one of them. */
const SOURCES = ['core/src', 'data-engine/src', 'data-engine/test/simulation'];

/**
 * @param mutant `{ name, changes: [{ file, find, replace }] }`: each `find` must occur exactly once in its file
 * @returns the folder to run from
 */
export function compile(mutant = { name: 'sound', changes: [] }) {
  const output = path.join(OUTPUT, mutant.name);
  fs.rmSync(output, { recursive: true, force: true });
  const changed = new Set();
  for (const file of SOURCES.flatMap(listSources)) {
    const target = path.join(output, file.replace(/\.ts$/, '.js'));
    const toCore = path.relative(path.dirname(target), path.join(output, 'core', 'src'));
    const fromHere = toCore.startsWith('.') ? toCore : `./${toCore}`;
    const code = transformed(file, mutate(file, mutant, changed), changed.has(file));
    fs.mkdirSync(path.dirname(target), { recursive: true });
    fs.writeFileSync(
      target,
      code.replace(/(['"])@holdfast\/core\//g, (_, quote) => `${quote}${fromHere}/`),
    );
  }
  const missed = mutant.changes.filter(({ file }) => !changed.has(file));
  if (missed.length > 0) throw new Error(`${mutant.name} names no file: ${missed.map(({ file }) => file)}`);
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

function listSources(folder) {
  return fs
    .readdirSync(path.join(packagesDir, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
    .map((entry) => path.relative(packagesDir, path.join(entry.parentPath, entry.name)));
}

function mutate(file, { name, changes }, changed) {
  let text = fs.readFileSync(path.join(packagesDir, file), 'utf8');
  for (const change of changes) {
    if (change.file !== file) continue;
    if (text.split(change.find).length !== 2) {
      throw new Error(
        `${name}: this stands ${text.split(change.find).length - 1} times in ${file}: ${change.find}`,
      );
    }
    text = text.replace(change.find, () => change.replace);
    changed.add(file);
  }
  return text;
}

/**
 * Runs the seeds from `first` to `last`, distributed over child processes.
 *
 * @param isFinal called with each result as it comes; true ends the search
 * @returns `{ seeds, failures: [{ seed, failure, story }] }`
 */
export async function search({
  folder,
  first,
  last,
  workers = 2,
  args = [],
  isFinal = () => false,
  timeoutMs = 0,
}) {
  const failures = [];
  let seeds = 0;
  const children = Array.from({ length: Math.min(workers, last - first + 1) }, (_, index) =>
    spawn(
      process.execPath,
      [
        '--enable-source-maps',
        path.join(folder, 'data-engine/test/simulation/main.js'),
        `${first + index}`,
        `${last}`,
        `${workers}`,
        ...args,
      ],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    ),
  );
  // They only compute: what runs beside them, and may have a deadline, goes first.
  for (const { pid } of children)
    if (pid !== undefined) os.setPriority(pid, os.constants.priority.PRIORITY_LOW);
  const stop = () => {
    for (const child of children) child.kill('SIGKILL');
  };
  const timer = timeoutMs > 0 ? setTimeout(stop, timeoutMs) : undefined;
  await Promise.all(
    children.map(async (child) => {
      for await (const line of readline.createInterface({ input: child.stdout })) {
        const result = parse(line);
        // The last, incomplete line of a stopped process.
        if (result === undefined) continue;
        seeds += 1;
        if (result.failure !== null) failures.push(result);
        if (isFinal(result)) stop();
      }
    }),
  );
  clearTimeout(timer);
  return { seeds, failures: failures.sort((a, b) => a.seed - b.seed) };
}

function parse(line) {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
