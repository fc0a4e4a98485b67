/**
 * Widening of byte ranges to whole blocks (read-modify-write), so that copies only receive whole ones: a rebuild
 * target has no older data of its own that a partial block could be merged with.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { contiguous, type Payload } from '../nbd/export.js';
import { alignDown, alignUp } from '../protocol/blocks.js';

type Read = (offset: number, lengthBytes: number) => Promise<Payload>;

/** Widens a payload to whole blocks, with the current data at both ends. The caller holds the range's lock. */
export async function widen(
  offset: number,
  payload: Payload,
  lengthBytes: number,
  read: Read,
): Promise<{ offset: number; payload: Payload; lengthBytes: number }> {
  const start = alignDown(offset);
  const end = alignUp(offset + lengthBytes);
  const before = offset - start;
  const after = end - (offset + lengthBytes);
  const head = before > 0 ? contiguous(await read(start, BLOCK_BYTES)).subarray(0, before) : undefined;
  const last = end - BLOCK_BYTES;
  const tail =
    after > 0 ? contiguous(await read(last, BLOCK_BYTES)).subarray(BLOCK_BYTES - after) : undefined;
  const pieces = [...(head ? [head] : []), ...payload, ...(tail ? [tail] : [])];
  return { offset: start, payload: pieces, lengthBytes: end - start };
}
