import { BLOCK_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { leaseAligned } from '../disk/aligned-buffers.js';
import { hugePagesReady } from '../disk/huge-pages.js';
import type { Layer } from './layer.js';
import type { Run } from './stretches.js';

export const WINDOW_BLOCKS = WINDOW_BYTES / BLOCK_BYTES;

/**
 * Lends a pooled buffer of one window, or of so much of it as is needed: allocating 4 MiB for every read costs more than a read from
 * memory itself.
 */
export async function withWindowBuffer<T>(
  work: (buffer: Buffer) => Promise<T>,
  lengthBytes = WINDOW_BYTES,
): Promise<T> {
  await hugePagesReady();
  const { buffer, release } = leaseAligned(lengthBytes);
  try {
    return await work(buffer);
  } finally {
    release();
  }
}

/** Reads the held blocks of a window, each to its own offset in the buffer. Returns their runs. */
export async function readHeld(layer: Layer, window: number, buffer: Buffer): Promise<Run[]> {
  const runs = heldRunsOf(layer, window);
  await layer.readRuns(runs, buffer, window * WINDOW_BLOCKS);
  return runs;
}

/** Runs of the blocks that a layer holds in a window, in order. */
export function heldRunsOf({ map }: Layer, window: number): Run[] {
  const first = window * WINDOW_BLOCKS;
  return [...map.heldRuns(first, Math.min(first + WINDOW_BLOCKS, map.blockCount))];
}
