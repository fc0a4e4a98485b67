/** Runs over planted faults: one that is found, one that is harmless, and one that hangs. */
import { expect, test } from '@jest/globals';
import { foldersOfRuns, verdictsOn } from './planted-run.js';

const FINDER_MS_MAX = 120_000;
/** Longer than the suite takes on a busy machine. */
const HANG_MS = 30_000;

test('a fault that hangs is ended and told as such, and leaves nothing behind', async () => {
  const before = foldersOfRuns();
  const hangs = '(() => { for (;;); })() ?? filter.parts.every(';
  expect(await verdictsOn({ hangs }, HANG_MS)).toEqual({ hangs: 'timed out' });
  expect(foldersOfRuns()).toEqual(before);
});

test('a run finds a fault, misses a harmless change, and leaves nothing behind', async () => {
  const before = foldersOfRuns();
  const changes = { broken: 'filter.parts.some(', harmless: 'filter.parts.slice().every(' };
  expect(await verdictsOn(changes, FINDER_MS_MAX)).toEqual({ broken: 'found', harmless: 'missed' });
  expect(foldersOfRuns()).toEqual(before);
});
