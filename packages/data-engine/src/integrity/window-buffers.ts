import { BLOCK_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { leaseAligned } from '../replica/aligned-buffers.js';
import type { Layer } from '../replica/layer.js';

/** Layers are hashed and copied in windows: small enough to hold a few, large enough that a hash for each costs nothing. */
export const WINDOW_BYTES = 4 * MIB;
export const WINDOW_BLOCKS = WINDOW_BYTES / BLOCK_BYTES;

/** Lends a buffer of one window: allocating 4 MiB anew for every read costs more than the read from memory itself. */
export async function withWindowBuffer<T>(work: (buffer: Buffer) => Promise<T>): Promise<T> {
  const { buffer, release } = leaseAligned(WINDOW_BYTES);
  try {
    return await work(buffer);
  } finally {
    release();
  }
}

/** Reads what the layer holds of a window, each block to its place in the buffer. Returns the runs it holds. */
export async function readHeld(
  layer: Layer,
  window: number,
  buffer: Buffer,
): Promise<{ first: number; count: number }[]> {
  const first = window * WINDOW_BLOCKS;
  const runs = [...layer.map.heldRuns(first, Math.min(first + WINDOW_BLOCKS, layer.map.blockCount))];
  // All have ended before a failure is thrown: the buffer is lent to somebody else then.
  const reads = await Promise.allSettled(
    runs.map((run) => {
      const at = (run.first - first) * BLOCK_BYTES;
      return layer.readInto(buffer.subarray(at, at + run.count * BLOCK_BYTES), run.first * BLOCK_BYTES);
    }),
  );
  for (const read of reads) if (read.status === 'rejected') throw read.reason;
  return runs;
}
