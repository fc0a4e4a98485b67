/**
 * Window hashes of a layer, over which blocks it holds and their data, so that two copies of the same layer can be
 * compared window by window and a difference is located.
 */

import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';
import { hugePagesReady } from '../disk/huge-pages.js';
import type { Layer } from './layer.js';
import { type RangeSums, sumsOfWindow } from './range-sums.js';
import type { Run } from './stretches.js';
import { heldRunsOf, readHeld, WINDOW_BLOCKS, withWindowBuffer } from './window-buffers.js';

/**
 * The hash of a window.
 *
 * @param runs that the layer holds in it, in order
 * @param pieces the bytes of each run
 */
export function hashRuns(runs: readonly Run[], pieces: readonly Buffer[]): string {
  const hashed = runs.flatMap(({ first, count }, index) => {
    // The offset is hashed as well: equal data at another offset is different content.
    const header = Buffer.alloc(8);
    header.writeUInt32BE(first % WINDOW_BLOCKS, 0);
    header.writeUInt32BE(count, 4);
    return [header, ...pieces.slice(index, index + 1)];
  });
  return blake3Of(hashed).toString('hex');
}

/**
 * Hashes a window of the layer's current files; `undefined` if it holds nothing there.
 *
 * @param sums collects the range checksums, if they are kept
 */
export async function hashWindow(
  layer: Layer,
  window: number,
  sums?: RangeSums,
): Promise<string | undefined> {
  const runs = heldRunsOf(layer, window);
  if (runs.length === 0) return undefined;
  if (sums !== undefined) return hashWithSums(layer, window, sums);
  await hugePagesReady();
  const pieces = await layer.readPacked(runs);
  try {
    return hashRuns(runs, pieces);
  } finally {
    pieces.release?.();
  }
}

function hashWithSums(layer: Layer, window: number, sums: RangeSums): Promise<string> {
  return withWindowBuffer(async (buffer) => {
    const runs = await readHeld(layer, window, buffer);
    sums.set(window, sumsOfWindow(window, runs, buffer));
    const at = (block: number) => (block - window * WINDOW_BLOCKS) * BLOCK_BYTES;
    return hashRuns(
      runs,
      runs.map(({ first, count }) => buffer.subarray(at(first), at(first + count))),
    );
  });
}

/** The first non-empty window at or after `window`; skips empty ones as a whole. */
export function nextHeldWindow(layer: Layer, window: number): number | undefined {
  const block = layer.map.nextHeld(window * WINDOW_BLOCKS);
  return block === undefined ? undefined : Math.floor(block / WINDOW_BLOCKS);
}

/** Bytes a layer holds in one window. */
export function heldBytesInWindow(layer: Layer, window: number): number {
  const first = window * WINDOW_BLOCKS;
  let blocks = 0;
  const end = Math.min(first + WINDOW_BLOCKS, layer.map.blockCount);
  for (const { count } of layer.map.heldRuns(first, end)) blocks += count;
  return blocks * BLOCK_BYTES;
}
