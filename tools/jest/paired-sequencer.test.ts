import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { LONG_SUITES } from './long-suites.mjs';
import PairedSequencer from './paired-sequencer.mjs';

const repositoryRoot = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..', '..');
const [longest = '', second = '', third = ''] = Object.keys(LONG_SUITES);
/** Not in the list, of a size by which Jest itself would begin with it. */
const LARGE = 'packages/core/src/large.test.ts';

let cacheDirectory: string;
beforeEach(() => {
  cacheDirectory = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-sequencer-'));
});
afterEach(() => fs.rmSync(cacheDirectory, { recursive: true, force: true }));

const at = (file: string) => path.join(repositoryRoot, file);

/** The order of the suites. @param known what Jest has stored of earlier runs: success and milliseconds */
function orderOf(files: string[], known: Record<string, [0 | 1, number]> = {}, maxWorkers = 1): string[] {
  const config = { rootDir: repositoryRoot, cacheDirectory, id: 'test', cache: true };
  const context = { config, hasteFS: { getSize: (file: string) => (file === at(LARGE) ? 1e6 : 1) } };
  const sequencer = new PairedSequencer({ contexts: [], globalConfig: { maxWorkers } });
  const tests = files.map((file) => ({ path: at(file), context }));
  const stored = Object.fromEntries(Object.entries(known).map(([file, entry]) => [at(file), entry]));
  // The casts: Jest reads no more of its contexts and tests for an order.
  const jestKnows = sequencer as unknown as { _cache: Map<unknown, unknown> };
  jestKnows._cache.set(context, stored);
  const sorted = sequencer.sort(tests) as { path: string }[];
  return sorted.map((one) => path.relative(repositoryRoot, one.path));
}

test('suites that were never run begin with the longest of the list, whatever their size', () => {
  expect(orderOf([LARGE, second, longest])).toEqual([longest, second, LARGE]);
});

test('a suite that was run goes by the time that it took, not by the list', () => {
  expect(orderOf([longest, second], { [longest]: [1, 5_000] })).toEqual([second, longest]);
});

test('a suite that failed in the last run is the first', () => {
  expect(orderOf([longest, LARGE], { [LARGE]: [0, 10] })).toEqual([LARGE, longest]);
});

test('beside two long suites the third worker takes short ones, until one of the two has ended', () => {
  const known: Record<string, [0 | 1, number]> = {
    [longest]: [1, 100_000],
    [second]: [1, 90_000],
    [third]: [1, 80_000],
    'a.test.ts': [1, 34_000],
    'b.test.ts': [1, 33_000],
    'c.test.ts': [1, 32_000],
    'd.test.ts': [1, 31_000],
  };
  const files = Object.keys(known).toReversed();
  expect(orderOf(files, known, 3).slice(0, 6)).toEqual([
    longest,
    second,
    'a.test.ts',
    'b.test.ts',
    'c.test.ts',
    third,
  ]);
  expect(orderOf(files, known, 3)).toHaveLength(files.length);
});

test('where no short suite is left, all workers take long ones', () => {
  expect(orderOf([longest, second, third], {}, 3)).toEqual([longest, second, third]);
});

test('no suite with a browser runs while another one changes the networks of the machine', () => {
  const compose = 'apps/local/test/compose/compose.test.ts';
  const [pages, viewer] = ['apps/local/test/console-pages.test.ts', 'apps/local/test/console-viewer.test.ts'];
  const known: Record<string, [0 | 1, number]> = {
    [compose]: [1, 100_000],
    [pages]: [1, 90_000],
    'long.test.ts': [1, 80_000],
    [viewer]: [1, 30_000],
    'short.test.ts': [1, 20_000],
  };
  const order = [compose, 'long.test.ts', 'short.test.ts', viewer, pages];
  expect(orderOf(Object.keys(known), known, 3)).toEqual(order);
  const failed = Object.fromEntries(Object.entries(known).map(([file, [, ms]]) => [file, [0, ms]]));
  expect(orderOf(Object.keys(known), failed as typeof known, 3)).toEqual(order);
});

test('each suite of the list exists, and the longest stands first', () => {
  const names = Object.keys(LONG_SUITES);
  expect(names.filter((name) => !fs.existsSync(at(name)))).toEqual([]);
  const figures = Object.values(LONG_SUITES);
  expect(figures).toEqual(figures.toSorted((one, other) => other - one));
});
