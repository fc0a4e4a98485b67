/** Reads of several runs of a layer, in as few calls as its disk is better off with. */
import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BLOCK_BYTES, KIB, MIB } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { CopyFile, CopyFiles } from '../disk/disk-store.js';
import { FolderFiles } from '../disk/folder/folder-store.js';
import { Layer } from './layer.js';
import type { Run } from './stretches.js';

const BLOCKS_PER_MIB = MIB / BLOCK_BYTES;
const run = (first: number, count: number): Run => ({ first, count });
const RUNS = [run(1, 2), run(5, 1), run(BLOCKS_PER_MIB, 3)] as const;

let folder: string;
let layer: Layer;
/** Lengths of the reads from the data file. */
let reads: number[];
let gapBytesMax: number | undefined;
/** Lengths of those that have ended, well or not. */
let ended: number[];
/** Blocks that can't be read. */
let broken: ReadonlySet<number>;
const data = new Map<number, Buffer>();

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-reads-'));
  [reads, ended, gapBytesMax, broken] = [[], [], 64 * KIB, new Set()];
  layer = await Layer.create(watched(new FolderFiles(folder)), 'layer', 8 * MIB);
  for (const { first, count } of RUNS) {
    const bytes = crypto.randomBytes(count * BLOCK_BYTES);
    data.set(first, bytes);
    await layer.write([bytes], first * BLOCK_BYTES, bytes.length);
  }
});

afterEach(async () => {
  await layer.close();
  await fs.rm(folder, { recursive: true, force: true });
});

const expected = () => RUNS.map(({ first }) => data.get(first));

describe('runs of a layer', () => {
  test.each([
    { name: 'with the gaps that are cheaper to read than another call', gap: 64 * KIB, lengths: [5, 3] },
    { name: 'each on its own where the disk reads no gaps', gap: undefined, lengths: [2, 1, 3] },
  ])('are read $name', async ({ gap, lengths }) => {
    gapBytesMax = gap;
    const pieces = await layer.readPacked(RUNS);
    expect([...pieces]).toEqual(expected());
    expect(reads).toEqual(lengths.map((blocks) => blocks * BLOCK_BYTES));
    pieces.release?.();
  });

  test('are read to their own places of a buffer too', async () => {
    const buffer = Buffer.alloc(2 * MIB);
    await layer.readRuns(RUNS, buffer, 1);
    for (const { first, count } of RUNS)
      expect(buffer.subarray((first - 1) * BLOCK_BYTES, (first - 1 + count) * BLOCK_BYTES)).toEqual(
        data.get(first),
      );
  });

  test('are read one by one where a gap between them can not be read', async () => {
    broken = new Set([4]);
    expect([...(await layer.readPacked(RUNS))]).toEqual(expected());
    expect(reads.map((lengthBytes) => lengthBytes / BLOCK_BYTES).sort()).toEqual([1, 2, 3, 5]);
  });

  test('that can not be read fail, after all others have ended', async () => {
    broken = new Set([5]);
    await expect(layer.readPacked(RUNS)).rejects.toThrow('EIO');
    expect(ended.map((lengthBytes) => lengthBytes / BLOCK_BYTES).sort()).toEqual([1, 2, 3, 5]);
  });
});

/** The files of a disk that reads gaps of so many bytes, and notes its reads. */
function watched(files: CopyFiles): CopyFiles {
  const watch = (file: CopyFile): CopyFile =>
    Object.create(file, {
      gapBytesMax: { get: () => gapBytesMax },
      readInto: {
        value: async (buffer: Buffer, position: number) => {
          reads.push(buffer.length);
          const first = position / BLOCK_BYTES;
          try {
            for (const block of broken)
              if (block >= first && block < first + buffer.length / BLOCK_BYTES) throw new Error('EIO');
            await file.readInto(buffer, position);
            // The last run comes long after the others.
            if (first === BLOCKS_PER_MIB) await sleep(50);
          } finally {
            ended.push(buffer.length);
          }
        },
      },
    });
  return Object.create(files, {
    createFile: {
      value: async (...made: Parameters<CopyFiles['createFile']>) => watch(await files.createFile(...made)),
    },
  });
}
