/**
 * Turns any byte range into whole blocks, so that copies only ever see whole ones: a copy that is being rebuilt has
 * no older data of its own that a part of a block could be merged with.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { contiguous, type Payload } from '../nbd/export.js';
import { alignDown, alignUp } from '../replica/blocks.js';

type Read = (offset: number, lengthBytes: number) => Promise<Payload>;

/** The whole blocks around a payload, with what is there now at both ends. Nothing may write there meanwhile. */
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
