/**
 * Window hashes of a layer, over which blocks it holds and their data, so that two copies of the same layer can be
 * compared window by window and a difference is located.
 */

import { BLOCK_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';
import type { HeldRun } from '../nbd/held-windows.js';
import type { Layer } from './layer.js';
import { type RangeSums, sumsOfWindow } from './range-sums.js';
import { readHeld, WINDOW_BLOCKS, withWindowBuffer } from './window-buffers.js';

export function hashRuns(runs: readonly HeldRun[]): string {
  const pieces: Buffer[] = [];
  for (const { offset, lengthBytes, payload } of runs) {
    // The offset is hashed as well: equal data at another offset is different content.
    const header = Buffer.alloc(8);
    header.writeUInt32BE((offset % WINDOW_BYTES) / BLOCK_BYTES, 0);
    header.writeUInt32BE(lengthBytes / BLOCK_BYTES, 4);
    pieces.push(header, ...payload);
  }
  return blake3Of(pieces).toString('hex');
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
  return withWindowBuffer(async (buffer) => {
    const runs = await readHeld(layer, window, buffer);
    if (runs.length === 0) return undefined;
    sums?.set(window, sumsOfWindow(window, runs, buffer));
    return hashRuns(
      runs.map(({ first, count }): HeldRun => {
        const at = (first - window * WINDOW_BLOCKS) * BLOCK_BYTES;
        const lengthBytes = count * BLOCK_BYTES;
        return { offset: first * BLOCK_BYTES, lengthBytes, payload: [buffer.subarray(at, at + lengthBytes)] };
      }),
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
