/**
 * The agent's own files, each harmed byte by byte: it reads as it was, or is refused with a code. A source of the agent that stores
 * something and is in no row of the table fails the last test.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { harm, sourcesThatStore } from '@holdfast/testkit/damage.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { STRUCTURES } from './stored-state.js';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp('/dev/shm/holdfast-state-').catch(() => fs.mkdtemp('/tmp/holdfast-state-'));
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

test.each(STRUCTURES)('$name is never believed when it is damaged', async (structure) => {
  const density = { headBytes: 2_000, flipStride: 1, cutStride: 1 };
  const { wrong, count } = await harm(structure, await structure.make(folder), density);
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

test('each source of the agent that stores something is in a row of the table', () => {
  const known = STRUCTURES.flatMap(({ writers }) => writers);
  expect(sourcesThatStore(path.join(import.meta.dirname, '../src'))).toEqual([...new Set(known)].sort());
});
