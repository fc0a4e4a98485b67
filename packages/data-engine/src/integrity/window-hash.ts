/**
 * Hashes of a layer in windows of fixed size, over which blocks it holds and what is in them, so that two copies of
 * the same layer can be compared window by window and a difference is found in its place.
 */

import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { Blake3Hasher } from '@napi-rs/blake-hash';
import type { Payload } from '../nbd/export.js';
import type { Layer } from '../replica/layer.js';
import type { RangeSums } from './range-sums.js';
import { readHeld, WINDOW_BLOCKS, WINDOW_BYTES, withWindowBuffer } from './window-buffers.js';

/** Consecutive held blocks and their data. Runs are maximal: two that touch are one. */
export type HeldRun = { offset: number; lengthBytes: number; payload: Payload };

export function hashRuns(runs: readonly HeldRun[]): string {
  const hasher = new Blake3Hasher();
  const header = Buffer.alloc(8);
  for (const { offset, lengthBytes, payload } of runs) {
    // The place is hashed as well: equal data at another place is another content.
    header.writeUInt32BE((offset % WINDOW_BYTES) / BLOCK_BYTES, 0);
    header.writeUInt32BE(lengthBytes / BLOCK_BYTES, 4);
    hasher.update(header);
    for (const piece of payload) hasher.update(piece);
  }
  return hasher.digest('hex');
}

/**
 * The window's hash as the layer's files have it now; `undefined` when it holds nothing there.
 *
 * @param sums where the checksums of its ranges go, if somebody wants them
 */
export async function hashWindow(
  layer: Layer,
  window: number,
  sums?: RangeSums,
): Promise<string | undefined> {
  return withWindowBuffer(async (buffer) => {
    const runs = await readHeld(layer, window, buffer);
    if (runs.length === 0) return undefined;
    sums?.addWindow(window, runs, buffer);
    return hashRuns(
      runs.map(({ first, count }): HeldRun => {
        const at = (first - window * WINDOW_BLOCKS) * BLOCK_BYTES;
        const lengthBytes = count * BLOCK_BYTES;
        return { offset: first * BLOCK_BYTES, lengthBytes, payload: [buffer.subarray(at, at + lengthBytes)] };
      }),
    );
  });
}

/** The first window at or after `window` that holds anything, without looking at empty ones one by one. */
export function nextHeldWindow(layer: Layer, window: number): number | undefined {
  const first = window * WINDOW_BLOCKS;
  if (first >= layer.map.blockCount) return undefined;
  const run = layer.map.runAt(first, layer.map.blockCount - first);
  if (run.held) return window;
  const block = first + run.count;
  return block >= layer.map.blockCount ? undefined : Math.floor(block / WINDOW_BLOCKS);
}

/** Bytes a layer holds in one window. */
export function heldBytesInWindow(layer: Layer, window: number): number {
  const first = window * WINDOW_BLOCKS;
  let blocks = 0;
  const end = Math.min(first + WINDOW_BLOCKS, layer.map.blockCount);
  for (const { count } of layer.map.heldRuns(first, end)) blocks += count;
  return blocks * BLOCK_BYTES;
}
