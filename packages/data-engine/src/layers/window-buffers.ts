import { BLOCK_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { leaseAligned } from '../disk/aligned-buffers.js';
import { hugePagesReady } from '../disk/huge-pages.js';
import type { Layer } from './layer.js';

export const WINDOW_BLOCKS = WINDOW_BYTES / BLOCK_BYTES;

/** Lends a pooled buffer of one window: allocating 4 MiB for every read costs more than a read from memory itself. */
export async function withWindowBuffer<T>(work: (buffer: Buffer) => Promise<T>): Promise<T> {
  await hugePagesReady();
  const { buffer, release } = leaseAligned(WINDOW_BYTES);
  try {
    return await work(buffer);
  } finally {
    release();
  }
}

/** Reads the held blocks of a window, each to its own offset in the buffer. Returns their runs. */
export async function readHeld(
  layer: Layer,
  window: number,
  buffer: Buffer,
): Promise<{ first: number; count: number }[]> {
  const first = window * WINDOW_BLOCKS;
  const runs = [...layer.map.heldRuns(first, Math.min(first + WINDOW_BLOCKS, layer.map.blockCount))];
  // Waits for all before throwing: the buffer goes back to the pool, and no read may still be filling it.
  const reads = await Promise.allSettled(
    runs.map((run) => {
      const at = (run.first - first) * BLOCK_BYTES;
      return layer.readInto(buffer.subarray(at, at + run.count * BLOCK_BYTES), run.first * BLOCK_BYTES);
    }),
  );
  for (const read of reads) if (read.status === 'rejected') throw read.reason;
  return runs;
}
