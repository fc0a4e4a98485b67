import crypto from 'node:crypto';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { BLOCK_BYTES, CLUSTER_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { FolderFiles } from '../disk/folder/folder-store.js';
import { BLOCK_HASHES } from '../protocol/pull.js';
import { hashBlock, hashBlocks, hashOf, type WindowBlocks } from './block-hash.js';
import { Layer } from './layer.js';

let folder: string;
let layer: Layer;

beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'holdfast-hash-'));
  // The layer ends within the second window, and within a block of 64 KiB.
  layer = await Layer.create(
    new FolderFiles(folder),
    'layer',
    WINDOW_BYTES + CLUSTER_BYTES + 2 * BLOCK_BYTES,
  );
});

afterEach(async () => {
  await layer.close();
  await fs.rm(folder, { recursive: true, force: true });
});

async function blocksOf(window: number, algorithm: (typeof BLOCK_HASHES)[number]): Promise<WindowBlocks> {
  const blocks = await hashBlocks(layer, window, algorithm);
  if (blocks === undefined) throw new Error('the window holds nothing');
  return blocks;
}

describe.each(BLOCK_HASHES)('the %s of one block of 64 KiB', (algorithm) => {
  // Written ranges, in blocks of 4 KiB from the start of the layer.
  test.each([
    { name: 'is that of its window', written: [[0, 16]], index: 0 },
    {
      name: 'covers only what is held',
      written: [
        [1, 2],
        [5, 1],
        [15, 4],
      ],
      index: 0,
    },
    { name: 'is its own, whatever is beside it', written: [[15, 4]], index: 1 },
    { name: 'is zeros where nothing is held', written: [[0, 16]], index: 3 },
    { name: 'ends with the layer', written: [[1024 + 16, 2]], index: 64 + 1 },
  ])('$name', async ({ written, index }) => {
    for (const [first = 0, count = 0] of written) {
      const lengthBytes = count * BLOCK_BYTES;
      await layer.write([crypto.randomBytes(lengthBytes)], first * BLOCK_BYTES, lengthBytes);
    }
    const blocks = await blocksOf(Math.floor(index / 64), algorithm);
    const alone = await hashBlock(layer, index * CLUSTER_BYTES, algorithm);
    expect(alone.toString('hex')).toBe(hashOf(blocks, index % 64).toString('hex'));
    expect(alone.every((byte) => byte === 0)).toBe(blocks.masks[index % 64] === 0);
  });
});
