import type { BlockHash, BlockHashes } from '../protocol/pull.js';
import { CLUSTERS_PER_WINDOW, HASH_BYTES, hashBlocks, type WindowBlocks } from './block-hash.js';
import type { Layer } from './layer.js';
import { nextHeldWindow } from './window-hash.js';

/** Windows hashed for one answer: 128 MiB of data, well below a second, and at most 400 KB of JSON. */
const WINDOWS_PER_ANSWER = 32;
/** Windows in flight: some are read while others are hashed. */
const WINDOWS_AT_ONCE = 4;

/** Hashes the next non-empty windows of the layer before `endWindow`. */
export async function blockHashes(
  layer: Layer,
  blockHash: BlockHash,
  firstWindow: number,
  endWindow: number,
): Promise<BlockHashes> {
  const found: number[] = [];
  let next = nextHeldWindow(layer, firstWindow);
  while (next !== undefined && next < endWindow && found.length < WINDOWS_PER_ANSWER) {
    found.push(next);
    next = nextHeldWindow(layer, next + 1);
  }
  const windows: BlockHashes['windows'] = [];
  for (let at = 0; at < found.length; at += WINDOWS_AT_ONCE) {
    const group = found.slice(at, at + WINDOWS_AT_ONCE);
    const hashed = await Promise.all(group.map((window) => hashBlocks(layer, window, blockHash)));
    for (const [index, window] of group.entries()) {
      const blocks = hashed[index];
      if (blocks !== undefined) windows.push([window, encodeMasks(blocks), blocks.hashes.toString('base64')]);
    }
  }
  return { windows, next: next ?? null };
}

/** @throws RangeError when the answer has not the format of the command. */
export function decodeBlocks(masks: string, hashes: string, blockHash: BlockHash): WindowBlocks {
  const maskBytes = Buffer.from(masks, 'base64');
  const hashBytes = Buffer.from(hashes, 'base64');
  if (maskBytes.length !== CLUSTERS_PER_WINDOW * 2)
    throw new RangeError('a list of masks has the wrong length');
  if (hashBytes.length !== CLUSTERS_PER_WINDOW * HASH_BYTES[blockHash]) {
    throw new RangeError('a list of hashes has the wrong length');
  }
  const decoded = new Uint16Array(CLUSTERS_PER_WINDOW);
  for (let index = 0; index < decoded.length; index += 1) decoded[index] = maskBytes.readUInt16LE(index * 2);
  return { masks: decoded, hashes: hashBytes };
}

function encodeMasks({ masks }: WindowBlocks): string {
  const bytes = Buffer.alloc(CLUSTERS_PER_WINDOW * 2);
  for (const [index, mask] of masks.entries()) bytes.writeUInt16LE(mask, index * 2);
  return bytes.toString('base64');
}
