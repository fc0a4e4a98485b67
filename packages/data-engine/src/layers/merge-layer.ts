/**
 * Merge of a frozen layer into its parent, in steps, so that chains do not grow with every rebuild.
 *
 * The newer layer's blocks are copied into the older layer's file: the newer one usually holds far less. Readers see
 * no difference, because every block that changes in the older file is still answered by the newer layer. After a
 * crash both layers read as before, and the merge restarts from the beginning.
 */
import { BLOCK_BYTES, MIB, PART_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { leaseAligned } from '../disk/aligned-buffers.js';
import type { Layer } from './layer.js';
import { nextHeldWindow } from './window-hash.js';

const WINDOWS_PER_STEP = PART_BYTES / WINDOW_BYTES;
const PIECE_BLOCKS = MIB / BLOCK_BYTES;
const ZEROS = Buffer.alloc(MIB);

export type Merge = {
  older: Layer;
  newer: Layer;
  /** True if the older layer is the lowest: zeros need not be held there. */
  isLowest: boolean;
};

/** Merges the next windows that the newer layer holds. Returns where to continue, `undefined` when done. */
export async function mergeStep(
  merge: Merge,
  firstWindow: number,
  besideWrites: (work: () => Promise<void>) => Promise<void> = (work) => work(),
): Promise<number | undefined> {
  await besideWrites(() => merge.older.grow(merge.newer.sizeBytes));
  let window = nextHeldWindow(merge.newer, firstWindow);
  for (let step = 0; step < WINDOWS_PER_STEP && window !== undefined; step += 1) {
    const at = window;
    await besideWrites(() => mergeWindow(merge, at));
    window = nextHeldWindow(merge.newer, window + 1);
  }
  return window;
}

async function mergeWindow(merge: Merge, window: number): Promise<void> {
  const { map } = merge.newer;
  const first = (window * WINDOW_BYTES) / BLOCK_BYTES;
  const end = Math.min(first + WINDOW_BYTES / BLOCK_BYTES, map.blockCount);
  for (const run of map.heldRuns(first, end)) {
    for (let done = 0; done < run.count; done += PIECE_BLOCKS) {
      const blocks = Math.min(PIECE_BLOCKS, run.count - done);
      await mergePiece(merge, (run.first + done) * BLOCK_BYTES, blocks * BLOCK_BYTES);
    }
  }
}

async function mergePiece(
  { older, newer, isLowest }: Merge,
  offset: number,
  lengthBytes: number,
): Promise<void> {
  const { buffer: piece, release } = leaseAligned(lengthBytes);
  try {
    await newer.readInto(piece, offset);
    if (piece.equals(ZEROS.subarray(0, lengthBytes))) await older.zero(offset, lengthBytes, true, !isLowest);
    else await older.write([piece], offset, lengthBytes);
  } finally {
    release();
  }
}
