/**
 * Requests that arrived together and follow each other on the device, served as one: a client that reads or writes a stretch in
 * blocks of 4 KiB then costs each copy one system call instead of many.
 */
import { BLOCK_BYTES, KIB, WINDOW_BYTES } from '@holdfast/core/model/bytes.js';
import { Command } from './constants.js';
import type { NbdRequest } from './requests.js';

/** As much as is copied into or out of the page cache in one call without a thread. */
const JOINED_BYTES_MAX = 128 * KIB;

/** @returns how many requests from the one at `first` on can be served as one; at least 1 */
export function adjacentCount(requests: readonly NbdRequest[], first: number): number {
  let last = requests[first];
  if (last === undefined || !isPlainTransfer(last)) return 1;
  const { type } = last;
  let lengthBytes = last.lengthBytes;
  for (let index = first + 1; ; index += 1) {
    const next = requests[index];
    if (next === undefined || next.type !== type || next.offset !== last.offset + last.lengthBytes)
      return index - first;
    lengthBytes += next.lengthBytes;
    if (!isPlainTransfer(next) || lengthBytes > JOINED_BYTES_MAX) return index - first;
    last = next;
  }
}

/** As many as a connection begins at a time. */
const IN_WINDOW_MAX = 256;

/** @returns how many requests from the one at `first` on read whole blocks of one window, in order; at least 1 */
export function countInWindow(requests: readonly NbdRequest[], first: number): number {
  let end = requests[first]?.offset ?? 0;
  const windowEnd = (Math.floor(end / WINDOW_BYTES) + 1) * WINDOW_BYTES;
  let count = 0;
  while (count < IN_WINDOW_MAX) {
    const next = requests[first + count];
    if (next === undefined || !isReadOfBlocks(next) || next.offset < end) break;
    end = next.offset + next.lengthBytes;
    if (end > windowEnd) break;
    count += 1;
  }
  return Math.max(1, count);
}

function isReadOfBlocks(request: NbdRequest): boolean {
  const { type, offset, lengthBytes } = request;
  const isWhole = offset % BLOCK_BYTES === 0 && lengthBytes % BLOCK_BYTES === 0;
  return type === Command.Read && isWhole && isPlainTransfer(request);
}

/** The requests as one; its cookie is that of the first. They are adjacent. */
export function joined(requests: readonly [NbdRequest, ...NbdRequest[]]): NbdRequest {
  const [{ flags, type, cookie, offset }] = requests;
  const payload = requests.flatMap((request) => [...request.payload]);
  let lengthBytes = 0;
  for (const request of requests) lengthBytes += request.lengthBytes;
  return { flags, type, cookie, offset, lengthBytes, payload };
}

/** Its flags ask for nothing of its own, such as durability. */
function isPlainTransfer({ type, flags, lengthBytes }: NbdRequest): boolean {
  return (type === Command.Read || type === Command.Write) && flags === 0 && lengthBytes > 0;
}
