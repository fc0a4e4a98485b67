/** Sealed blocks: blocks of 4 KiB that end in a checksum of the rest, by which a torn write is detected. */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';

export const BLOCK_SEALED_BYTES = BLOCK_BYTES;
const SEAL_BYTES = 16;
/** Usable bytes of a block. */
export const CONTENT_BYTES = BLOCK_SEALED_BYTES - SEAL_BYTES;

export function seal(block: Buffer): void {
  sealOf(block).copy(block, CONTENT_BYTES);
}

export function isSealed(block: Buffer): boolean {
  return sealOf(block).equals(block.subarray(CONTENT_BYTES));
}

function sealOf(block: Buffer): Buffer {
  return blake3Of([block.subarray(0, CONTENT_BYTES)]).subarray(0, SEAL_BYTES);
}
