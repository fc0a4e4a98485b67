import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readDiskNote, writeDiskNote } from './disk-note.js';
import { blockDiskAt, formatBlockDisk } from './format-block-disk.js';
import { NOTE_OFFSETS } from './layout.js';

let base: string;
let disk: string;

beforeEach(async () => {
  base = await fs.mkdtemp(path.join(os.tmpdir(), 'note-'));
  disk = path.join(base, 'disk');
  await formatBlockDisk(disk, 64 * MIB);
});

afterEach(() => fs.rm(base, { recursive: true, force: true }));

test('the newest note is read, and the disk stays what it is', async () => {
  const diskId = await blockDiskAt(disk);
  expect(await readDiskNote(disk)).toBeUndefined();
  for (const text of ['one', 'two', 'three']) {
    await writeDiskNote(disk, text);
    expect(await readDiskNote(disk)).toBe(text);
  }
  expect(await blockDiskAt(disk)).toBe(diskId);
});

/** Puts bytes of an earlier state of the disk back, as a write that was torn leaves them. */
async function tear(before: Buffer, from: number, to: number): Promise<void> {
  const file = await fs.open(disk, 'r+');
  await file.write(before, from, to - from, from);
  await file.close();
}

test('a note that was torn leaves the one before', async () => {
  await writeDiskNote(disk, 'one');
  await writeDiskNote(disk, 'two');
  const before = await fs.readFile(disk);
  await writeDiskNote(disk, 'three');
  await tear(before, NOTE_OFFSETS[0] + 512, NOTE_OFFSETS[0] + 4096);
  expect(await readDiskNote(disk)).toBe('two');
  await writeDiskNote(disk, 'four');
  expect(await readDiskNote(disk)).toBe('four');
});

test('a note that was damaged is not taken for one that was never written, nor for the one before', async () => {
  for (const text of ['one', 'two']) await writeDiskNote(disk, text);
  const [first, second] = NOTE_OFFSETS;
  for (const [from, to] of [
    [first, first + 512],
    [second, second + 4096],
    [first, second + 4096],
  ] as const) {
    const before = await fs.readFile(disk);
    await tear(Buffer.alloc(before.length), from, to);
    await expect(readDiskNote(disk)).rejects.toMatchObject({ code: 'disk.wrong_identity' });
    await tear(before, from, to);
  }
  expect(await readDiskNote(disk)).toBe('two');
});

test('a note longer than a block is refused', async () => {
  await expect(writeDiskNote(disk, 'x'.repeat(4096))).rejects.toMatchObject({ code: 'disk.no_space' });
});
