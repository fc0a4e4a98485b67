import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readDiskNote, writeDiskNote } from './disk-note.js';
import { blockDiskAt, formatBlockDisk } from './format-block-disk.js';
import { PROBE_OFFSET } from './layout.js';

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

test('a note that was torn leaves the one before', async () => {
  await writeDiskNote(disk, 'one');
  await writeDiskNote(disk, 'two');
  const file = await fs.open(disk, 'r+');
  await file.write(Buffer.alloc(512, 0xff), 0, 512, PROBE_OFFSET + 2 * 4096 + 512);
  await file.close();
  expect(await readDiskNote(disk)).toBe('one');
});

test('a note longer than a block is refused', async () => {
  await expect(writeDiskNote(disk, 'x'.repeat(4096))).rejects.toMatchObject({ code: 'disk.no_space' });
});
