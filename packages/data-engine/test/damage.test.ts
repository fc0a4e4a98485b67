/**
 * No structure is valid when it is blank or damaged: each one that is stored is harmed byte by byte, and reads as it was or is refused.
 * A source that stores something and is in no row of the table fails the last test.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { type Density, harm, sourcesThatStore } from '@holdfast/testkit/damage.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { blockDiskAt, formatBlockDisk } from '../src/disk/block/format-block-disk.js';
import { openDiskStore } from '../src/replica/open-disk-store.js';
import { fastFolder, NO_STRUCTURE, STRUCTURES, WHOLE } from './stored-structures.js';

/** Every byte of each head, and others at a distance: all bytes of all structures would take minutes. */
const DENSITY: Density = { headBytes: 600, flipStride: 29, cutStride: 509 };

let folder: string;
beforeEach(async () => {
  folder = await fastFolder();
});
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

test.each(STRUCTURES)('$name is never believed when it is damaged', async (structure) => {
  const { wrong, count } = await harm(structure, await structure.make(folder), DENSITY);
  expect(wrong).toEqual([]);
  expect(count).toBeGreaterThan(100);
});

test.each(WHOLE)('$name, read with all of the disk', async (structure) => {
  const density = { headBytes: 0, flipStride: 311, cutStride: 4 * 2 ** 20, windowBytesMin: 4096 };
  const { wrong } = await harm(structure, await structure.make(folder), density);
  expect(wrong).toEqual([]);
});

test('a block disk that ends before its size is refused, also where what is cut off was never written', async () => {
  const file = path.join(folder, 'blocks');
  await formatBlockDisk(file, 32 * 2 ** 20);
  await fs.truncate(file, 32 * 2 ** 20 - 4096);
  await expect(blockDiskAt(file)).rejects.toMatchObject({ code: 'disk.wrong_identity' });
  await expect(openDiskStore(file)).rejects.toMatchObject({ code: 'disk.wrong_identity' });
});

test('each source that stores something is in a row of the table', () => {
  const source = path.join(import.meta.dirname, '../src');
  const known = [...STRUCTURES, ...WHOLE].flatMap(({ writers }) => writers);
  expect(sourcesThatStore(source)).toEqual([...new Set([...known, ...Object.keys(NO_STRUCTURE)])].sort());
});
