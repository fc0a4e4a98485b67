/** A fault that hangs is ended when its time is over, and counts as found. */
import { expect, test } from '@jest/globals';
import { foldersOfRuns, verdictsOn } from './planted-run.js';

/** Longer than the suite takes on a busy machine. */
const HANG_MS = 30_000;

test('a fault that hangs is ended and told as such, and leaves nothing behind', async () => {
  const before = foldersOfRuns();
  const hangs = '(() => { for (;;); })() ?? filter.parts.every(';
  expect(await verdictsOn({ hangs }, HANG_MS)).toEqual({ hangs: 'timed out' });
  expect(foldersOfRuns()).toEqual(before);
});
