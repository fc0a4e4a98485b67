/**
 * Frames of LZ4, decoded. Longhorn's engine writes them; Node has no decoder, and the content's checksum makes sure of ours. Everything that a
 * frame claims is checked against the output's size, which the caller knows.
 */

const MAGIC = 0x184d2204;
const MIN_MATCH = 4;

export const isLz4Frame = (bytes: Buffer): boolean => bytes.length >= 4 && bytes.readUInt32LE(0) === MAGIC;

/** @throws Error where the bytes are no whole frame of so many bytes of content */
export function decodeLz4Frame(frame: Buffer, rawBytes: number): Buffer {
  if (!isLz4Frame(frame)) throw new Error('no lz4 frame');
  const flags = frame.readUInt8(4);
  if (flags >> 6 !== 1) throw new Error('an lz4 frame of another version');
  const hasBlockSums = (flags & 0x10) !== 0;
  const hasContentSize = (flags & 0x08) !== 0;
  const hasContentSum = (flags & 0x04) !== 0;
  if ((flags & 0x01) !== 0) throw new Error('an lz4 frame that needs a dictionary');
  let at = 6 + (hasContentSize ? 8 : 0);
  if (frame.readUInt8(at) !== ((xxh32(frame.subarray(4, at)) >>> 8) & 0xff))
    throw new Error('a changed lz4 header');
  at += 1;
  const out = Buffer.allocUnsafeSlow(rawBytes);
  let end = 0;
  for (;;) {
    const size = frame.readUInt32LE(at);
    at += 4;
    if (size === 0) break;
    const lengthBytes = size & 0x7fffffff;
    if (at + lengthBytes > frame.length) throw new Error('an lz4 frame that is cut off');
    const block = frame.subarray(at, at + lengthBytes);
    at += lengthBytes;
    if (hasBlockSums) {
      if (frame.readUInt32LE(at) !== xxh32(block)) throw new Error('a changed lz4 block');
      at += 4;
    }
    // The highest bit marks a block that is stored as it is. A match may reach back into the blocks before.
    end = size >>> 31 === 1 ? copied(block, out, end) : decoded(block, out, end);
  }
  if (hasContentSum && frame.readUInt32LE(at) !== xxh32(out.subarray(0, end)))
    throw new Error('a changed lz4 content');
  if (end !== rawBytes) throw new Error(`an lz4 frame of ${end} bytes, not ${rawBytes}`);
  return out;
}

function copied(block: Buffer, out: Buffer, begin: number): number {
  if (begin + block.length > out.length) throw new Error('an lz4 frame of too many bytes');
  block.copy(out, begin);
  return begin + block.length;
}

function decoded(block: Buffer, out: Buffer, begin: number): number {
  let at = 0;
  let end = begin;
  const length = (short: number): number => {
    if (short < 15) return short;
    let sum = short;
    for (;;) {
      const more = block[at];
      if (more === undefined) throw new Error('an lz4 block that is cut off');
      at += 1;
      sum += more;
      if (more !== 255) return sum;
    }
  };
  while (at < block.length) {
    const token = block[at] ?? 0;
    at += 1;
    const literals = length(token >> 4);
    if (at + literals > block.length || end + literals > out.length)
      throw new Error('an lz4 block with a wrong length');
    block.copy(out, end, at, at + literals);
    at += literals;
    end += literals;
    // The last sequence has literals only.
    if (at === block.length) return end;
    if (at + 2 > block.length) throw new Error('an lz4 block that is cut off');
    const distance = block.readUInt16LE(at);
    at += 2;
    end = repeat(out, end, distance, length(token & 15) + MIN_MATCH);
  }
  throw new Error('an lz4 block that ends with a match');
}

function repeat(out: Buffer, end: number, distance: number, lengthBytes: number): number {
  const from = end - distance;
  if (distance === 0 || from < 0 || end + lengthBytes > out.length)
    throw new Error('an lz4 match outside of the content');
  // A match may overlap what it makes: it is then copied in doubling pieces, each of which is there already.
  for (let done = 0; done < lengthBytes; ) {
    const piece = Math.min(lengthBytes - done, distance + done);
    out.copyWithin(end + done, from, from + piece);
    done += piece;
  }
  return end + lengthBytes;
}

const PRIME_1 = 0x9e3779b1;
const PRIME_2 = 0x85ebca77;
const PRIME_3 = 0xc2b2ae3d;
const PRIME_4 = 0x27d4eb2f;
const PRIME_5 = 0x165667b1;
const STRIPE = 16;

const rotated = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

const mixed = (lane: number, word: number): number =>
  Math.imul(rotated((lane + Math.imul(word, PRIME_2)) | 0, 13), PRIME_1);

/** XXH32 with seed 0, the checksum of LZ4's frames. */
export function xxh32(bytes: Buffer): number {
  let at = 0;
  let hash = PRIME_5;
  if (bytes.length >= STRIPE) {
    let a = (PRIME_1 + PRIME_2) | 0;
    let b = PRIME_2 | 0;
    let c = 0;
    let d = -PRIME_1 | 0;
    for (; at + STRIPE <= bytes.length; at += STRIPE) {
      a = mixed(a, bytes.readInt32LE(at));
      b = mixed(b, bytes.readInt32LE(at + 4));
      c = mixed(c, bytes.readInt32LE(at + 8));
      d = mixed(d, bytes.readInt32LE(at + 12));
    }
    hash = rotated(a, 1) + rotated(b, 7) + rotated(c, 12) + rotated(d, 18);
  }
  hash = (hash + bytes.length) | 0;
  for (; at + 4 <= bytes.length; at += 4)
    hash = Math.imul(rotated((hash + Math.imul(bytes.readInt32LE(at), PRIME_3)) | 0, 17), PRIME_4);
  for (; at < bytes.length; at += 1)
    hash = Math.imul(rotated((hash + Math.imul(bytes[at] ?? 0, PRIME_5)) | 0, 11), PRIME_1);
  hash = Math.imul(hash ^ (hash >>> 15), PRIME_2);
  hash = Math.imul(hash ^ (hash >>> 13), PRIME_3);
  return (hash ^ (hash >>> 16)) >>> 0;
}
