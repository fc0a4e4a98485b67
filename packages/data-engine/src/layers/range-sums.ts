/**
 * Range checksums of a frozen layer: one per 1 MiB, over which blocks it holds and their data. Copies on block disks
 * keep them beside the layer's checksum: if that differs between copies, they tell which ranges differ, and the
 * others are not read.
 *
 * They are 128 bits of BLAKE3. 64 bits would suffice against chance, but not against an attacker who constructs a
 * collision.
 */
import { BLOCK_BYTES, RANGE_BYTES, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';
import type { Run } from './stretches.js';
import { WINDOW_BLOCKS } from './window-buffers.js';

export const SUM_BYTES = 16;
export const RANGES_PER_WINDOW = WINDOW_BYTES / RANGE_BYTES;
const BLOCKS_PER_RANGE = RANGE_BYTES / BLOCK_BYTES;
/** Length of the checksums of one window. */
const SUMS_BYTES = RANGES_PER_WINDOW * SUM_BYTES;

/** Runs of held blocks of the layer, in order. */
type Runs = readonly Run[];

/** The checksums of a whole layer; zeros for a range that holds nothing. */
export class RangeSums {
  readonly bytes: Buffer;

  constructor(sizeBytes: number) {
    this.bytes = Buffer.alloc(Math.ceil(sizeBytes / RANGE_BYTES) * SUM_BYTES);
  }

  /** @param sums of the window's ranges, by `sumsOfWindow` */
  set(window: number, sums: Buffer): void {
    sums.copy(this.bytes, window * SUMS_BYTES);
  }
}

/**
 * The checksums of a window's ranges.
 *
 * @param base the block that the buffer begins with; each other one is at its own offset from there
 */
export function sumsOfWindow(
  window: number,
  runs: Runs,
  buffer: Buffer,
  base = window * WINDOW_BLOCKS,
): Buffer {
  const sums = Buffer.alloc(SUMS_BYTES);
  const start = window * WINDOW_BLOCKS;
  for (let index = 0; index < RANGES_PER_WINDOW; index += 1) {
    const first = start + index * BLOCKS_PER_RANGE;
    sumOf(clip(runs, first, first + BLOCKS_PER_RANGE), first, buffer, base)?.copy(sums, index * SUM_BYTES);
  }
  return sums;
}

function sumOf(runs: Runs, firstOfRange: number, buffer: Buffer, base: number): Buffer | undefined {
  if (runs.length === 0) return undefined;
  const pieces = runs.flatMap(({ first, count }) => {
    // The offset is hashed as well: equal data at another offset is different content.
    const header = Buffer.alloc(4);
    header.writeUInt16LE(first - firstOfRange, 0);
    header.writeUInt16LE(count, 2);
    const at = (first - base) * BLOCK_BYTES;
    return [header, buffer.subarray(at, at + count * BLOCK_BYTES)];
  });
  return blake3Of(pieces).subarray(0, SUM_BYTES);
}

function clip(runs: Runs, from: number, end: number): Runs {
  return runs.flatMap(({ first, count }) => {
    const start = Math.max(first, from);
    const stop = Math.min(first + count, end);
    return start < stop ? [{ first: start, count: stop - start }] : [];
  });
}
