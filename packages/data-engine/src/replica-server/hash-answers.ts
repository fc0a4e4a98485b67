/**
 * Answers of a copy to a rebuild that compares layers: hashes of the next windows that a layer holds, as many as one
 * part of the layer has, so that no request takes long.
 */
import { PART_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { inFlight } from '../base/in-flight.js';
import { encodeMasks, hashBlocks } from '../layers/block-hash.js';
import type { Layer } from '../layers/layer.js';
import type { RangeSums } from '../layers/range-sums.js';
import { hashWindow, nextHeldWindow } from '../layers/window-hash.js';
import type { BlockHash, BlockHashes, WindowHashes } from '../protocol/pull.js';

/** Windows hashed for one answer: well below a second, and with hashes of blocks at most 400 KB of JSON. */
const WINDOWS_PER_ANSWER = PART_BYTES / WINDOW_BYTES;
/** Windows in flight of which only the hash is requested: one is read while another is hashed. */
const WHOLE_AT_ONCE = 2;
/** Windows in flight of which the blocks are hashed: hashing runs on other threads, so some are read meanwhile. */
const BLOCKS_AT_ONCE = 4;

export type WindowHashesAsk = {
  readonly firstWindow: number;
  readonly endWindow: number;
  /** The hash of a window that was computed already, with the checksums of its ranges if these are kept. */
  readonly known: (window: number) => { hash: string; sums: Buffer | undefined } | undefined;
  /** Collects the range checksums; left out if none are kept. */
  readonly sums: RangeSums | undefined;
};

/** Hashes the non-empty windows of a layer before `endWindow`, from its current files where they are not known. */
export async function windowHashes(
  layer: Layer,
  { firstWindow, endWindow, known, sums }: WindowHashesAsk,
): Promise<WindowHashes> {
  const { windows, next } = heldWindows(layer, firstWindow, endWindow);
  const hashed = await eachOf(windows, WHOLE_AT_ONCE, async (window) => {
    const found = known(window);
    if (found === undefined) return hashWindow(layer, window, sums);
    if (found.sums !== undefined) sums?.set(window, found.sums);
    return found.hash;
  });
  return { hashes: hashed.map(([window, hash]) => [window, hash ?? '']), next };
}

/** Hashes the blocks of the non-empty windows of a layer before `endWindow`. */
export async function blockHashes(
  layer: Layer,
  blockHash: BlockHash,
  firstWindow: number,
  endWindow: number,
): Promise<BlockHashes> {
  const { windows, next } = heldWindows(layer, firstWindow, endWindow);
  const hashed = await eachOf(windows, BLOCKS_AT_ONCE, (window) => hashBlocks(layer, window, blockHash));
  const told: BlockHashes['windows'] = [];
  for (const [window, blocks] of hashed) {
    if (blocks !== undefined) told.push([window, encodeMasks(blocks), blocks.hashes.toString('base64')]);
  }
  return { windows: told, next };
}

/** The windows of one answer, and the first non-empty one after them. */
function heldWindows(
  layer: Layer,
  firstWindow: number,
  endWindow: number,
): { windows: number[]; next: number | null } {
  const windows: number[] = [];
  let next = nextHeldWindow(layer, firstWindow);
  while (next !== undefined && next < endWindow && windows.length < WINDOWS_PER_ANSWER) {
    windows.push(next);
    next = nextHeldWindow(layer, next + 1);
  }
  return { windows, next: next ?? null };
}

async function eachOf<T>(
  windows: readonly number[],
  atOnce: number,
  work: (window: number) => Promise<T>,
): Promise<[window: number, result: T][]> {
  const results: [number, T][] = [];
  await inFlight(windows.entries(), atOnce, async ([index, window]) => {
    results[index] = [window, await work(window)];
  });
  return results;
}
