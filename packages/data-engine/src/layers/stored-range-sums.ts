/**
 * File format of a layer's range checksums: a file beside the layer's own, in blocks that each name the layer
 * checksum they belong to. A torn block, or one of another state of the layer, is ignored.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';
import { blake3Of } from '../base/blake3.js';
import { systemCode } from '../base/system-error.js';
import type { CopyFile, CopyFiles } from '../disk/disk-store.js';
import { CONTENT_BYTES, isSealed, seal } from '../disk/sealed-block.js';
import type { LayerChecksum } from '../protocol/layers.js';
import { type RangeSums, SUM_BYTES } from './range-sums.js';

const MARK_BYTES = 16;
const SUMS_PER_BLOCK = Math.floor((CONTENT_BYTES - MARK_BYTES) / SUM_BYTES);

export async function storeRangeSums(
  files: CopyFiles,
  name: string,
  checksum: LayerChecksum,
  { bytes }: RangeSums,
): Promise<void> {
  const mark = markOf(checksum);
  const blocks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += SUMS_PER_BLOCK * SUM_BYTES) {
    const block = Buffer.alloc(BLOCK_BYTES);
    mark.copy(block, 0);
    bytes.copy(block, MARK_BYTES, at, at + SUMS_PER_BLOCK * SUM_BYTES);
    seal(block);
    blocks.push(block);
  }
  const file = await openOrMake(files, name);
  try {
    await file.write(blocks, 0);
    await file.syncData();
  } finally {
    await file.close();
  }
}

/**
 * Loads the checksums of some ranges, if they belong to this state of the layer.
 *
 * @returns `undefined` unless all of them are there
 */
export async function loadRangeSums(
  files: CopyFiles,
  name: string,
  checksum: LayerChecksum,
  first: number,
  count: number,
): Promise<Buffer | undefined> {
  const mark = markOf(checksum);
  const file = await openIfThere(files, name);
  if (file === undefined) return undefined;
  try {
    const parts: Buffer[] = [];
    const end = Math.ceil((first + count) / SUMS_PER_BLOCK);
    const block = Buffer.alloc(BLOCK_BYTES);
    for (let index = Math.floor(first / SUMS_PER_BLOCK); index < end; index += 1) {
      await file.readInto(block, index * BLOCK_BYTES);
      if (!isSealed(block) || !block.subarray(0, MARK_BYTES).equals(mark)) return undefined;
      const from = Math.max(0, first - index * SUMS_PER_BLOCK);
      const to = Math.min(SUMS_PER_BLOCK, first + count - index * SUMS_PER_BLOCK);
      parts.push(Buffer.from(block.subarray(MARK_BYTES + from * SUM_BYTES, MARK_BYTES + to * SUM_BYTES)));
    }
    return Buffer.concat(parts);
  } finally {
    await file.close();
  }
}

function markOf({ value, changeTime }: LayerChecksum): Buffer {
  return blake3Of([Buffer.from(`${value} ${changeTime}`)]).subarray(0, MARK_BYTES);
}

async function openOrMake(files: CopyFiles, name: string): Promise<CopyFile> {
  return (await openIfThere(files, name)) ?? files.createFile(name, 0, { kind: 'map' });
}

async function openIfThere(files: CopyFiles, name: string): Promise<CopyFile | undefined> {
  try {
    return await files.openFile(name, { kind: 'map' });
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}
