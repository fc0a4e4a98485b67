/**
 * Block hashes of a layer: for each cluster of 64 KiB, which of its 16 blocks of 4 KiB the layer holds, and a hash of
 * their data. Two copies of a layer are compared by these, so that a change of 4 KiB costs 64 KiB on the network and
 * not a whole window.
 *
 * SHA-512 runs on other threads, BLAKE3 on this one: it is seven times as fast, and takes less than a millisecond for
 * a window.
 */
import crypto from 'node:crypto';
import { BLOCK_BYTES, CLUSTER_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';
import { leaseAligned } from '../disk/aligned-buffers.js';
import type { BlockHash } from '../protocol/pull.js';
import type { Layer } from './layer.js';
import { readHeld, withWindowBuffer } from './window-buffers.js';

export const CLUSTERS_PER_WINDOW = WINDOW_BYTES / CLUSTER_BYTES;
const BLOCKS_PER_CLUSTER = CLUSTER_BYTES / BLOCK_BYTES;
const BLOCKS_PER_WINDOW = WINDOW_BYTES / BLOCK_BYTES;
const ALL_HELD = 0xffff;

export const HASH_BYTES: Record<BlockHash, number> = { sha512: 64, blake3: 32 };

export type WindowBlocks = {
  /** A bit for each block of 4 KiB that is held, per cluster of 64 KiB, lowest bit first. */
  masks: Uint16Array;
  /** The hash of the held data, per cluster of 64 KiB; zeros if none is held. */
  hashes: Buffer;
};

/** The block hashes of one window; `undefined` if the layer holds nothing in it. */
export async function hashBlocks(
  layer: Layer,
  window: number,
  algorithm: BlockHash,
): Promise<WindowBlocks | undefined> {
  const masks = masksOf(layer, window);
  if (masks === undefined) return undefined;
  return withWindowBuffer(async (buffer) => {
    await readHeld(layer, window, buffer);
    const hashes = Buffer.alloc(CLUSTERS_PER_WINDOW * HASH_BYTES[algorithm]);
    const underWay: Promise<unknown>[] = [];
    for (const [index, mask] of masks.entries()) {
      if (mask === 0) continue;
      const data = buffer.subarray(index * CLUSTER_BYTES, (index + 1) * CLUSTER_BYTES);
      const at = index * HASH_BYTES[algorithm];
      const hash = hashHeld(data, mask, algorithm);
      if (Buffer.isBuffer(hash)) hash.copy(hashes, at);
      else underWay.push(hash.then((found) => found.copy(hashes, at)));
    }
    await Promise.all(underWay);
    return { masks, hashes };
  });
}

/** The mask and hash of one cluster of 64 KiB; zeros if nothing is held, as in `WindowBlocks`. */
export async function hashBlock(layer: Layer, offset: number, algorithm: BlockHash): Promise<Buffer> {
  const { buffer, release } = leaseAligned(CLUSTER_BYTES);
  try {
    const mask = await readBlock(layer, offset, buffer);
    return mask === 0 ? Buffer.alloc(HASH_BYTES[algorithm]) : await hashHeld(buffer, mask, algorithm);
  } finally {
    release();
  }
}

export function hashOf({ hashes }: WindowBlocks, index: number): Buffer {
  const width = hashes.length / CLUSTERS_PER_WINDOW;
  return hashes.subarray(index * width, (index + 1) * width);
}

/** True if both hold the same blocks with the same data. */
export function equalBlock(a: WindowBlocks, b: WindowBlocks, index: number): boolean {
  if (a.masks[index] !== b.masks[index]) return false;
  return hashOf(a, index).equals(hashOf(b, index));
}

/** Runs of set bits, in blocks of 4 KiB from the start of the 64 KiB. */
export function runsOf(mask: number): { first: number; count: number }[] {
  const runs: { first: number; count: number }[] = [];
  for (let bit = 0; bit < BLOCKS_PER_CLUSTER; bit += 1) {
    if ((mask & (1 << bit)) === 0) continue;
    const last = runs.at(-1);
    if (last !== undefined && last.first + last.count === bit) last.count += 1;
    else runs.push({ first: bit, count: 1 });
  }
  return runs;
}

function masksOf(layer: Layer, window: number): Uint16Array | undefined {
  const first = window * BLOCKS_PER_WINDOW;
  const end = Math.min(first + BLOCKS_PER_WINDOW, layer.map.blockCount);
  const masks = new Uint16Array(CLUSTERS_PER_WINDOW);
  let any = false;
  for (const run of layer.map.heldRuns(first, end)) {
    any = true;
    for (let block = run.first - first; block < run.first - first + run.count; block += 1) {
      const index = Math.floor(block / BLOCKS_PER_CLUSTER);
      masks[index] = (masks[index] ?? 0) | (1 << (block % BLOCKS_PER_CLUSTER));
    }
  }
  return any ? masks : undefined;
}

/** Reads the held parts of one cluster of 64 KiB, and returns their mask. */
async function readBlock(layer: Layer, offset: number, buffer: Buffer): Promise<number> {
  const first = offset / BLOCK_BYTES;
  const end = Math.min(first + BLOCKS_PER_CLUSTER, layer.map.blockCount);
  const runs = [...layer.map.heldRuns(first, end)];
  await layer.readRuns(runs, buffer, first);
  return runs.reduce((mask, run) => mask | (((1 << run.count) - 1) << (run.first - first)), 0);
}

/** At once, where it is computed on this thread: a window has 64 of these. */
function hashHeld(data: Buffer, mask: number, algorithm: BlockHash): Buffer | Promise<Buffer> {
  const pieces =
    mask === ALL_HELD
      ? [data]
      : runsOf(mask).map(({ first, count }) =>
          data.subarray(first * BLOCK_BYTES, (first + count) * BLOCK_BYTES),
        );
  if (algorithm === 'sha512') {
    const [only] = pieces;
    const whole = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces);
    return crypto.subtle.digest('SHA-512', whole).then((hash) => Buffer.from(hash));
  }
  return blake3Of(pieces);
}

/** @throws RangeError when the answer has not the format of the command. */
export function decodeBlocks(masks: string, hashes: string, blockHash: BlockHash): WindowBlocks {
  const maskBytes = Buffer.from(masks, 'base64');
  const hashBytes = Buffer.from(hashes, 'base64');
  if (maskBytes.length !== CLUSTERS_PER_WINDOW * 2)
    throw new RangeError('a list of masks has the wrong length');
  if (hashBytes.length !== CLUSTERS_PER_WINDOW * HASH_BYTES[blockHash]) {
    throw new RangeError('a list of hashes has the wrong length');
  }
  const decoded = new Uint16Array(CLUSTERS_PER_WINDOW);
  for (let index = 0; index < decoded.length; index += 1) decoded[index] = maskBytes.readUInt16LE(index * 2);
  return { masks: decoded, hashes: hashBytes };
}

export function encodeMasks({ masks }: WindowBlocks): string {
  const bytes = Buffer.alloc(CLUSTERS_PER_WINDOW * 2);
  for (const [index, mask] of masks.entries()) bytes.writeUInt16LE(mask, index * 2);
  return bytes.toString('base64');
}
