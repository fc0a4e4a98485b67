/**
 * A block disk's note: a short text of the agent in two blocks behind the probe block. A/B slots: each note is written over the older
 * of the two, so that a torn write leaves the one before.
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BlockFile } from '../block-file.js';
import { BLOCK_SEALED_BYTES, CONTENT_BYTES, isSealed, seal } from '../sealed-block.js';
import { PROBE_OFFSET } from './layout.js';

const MAGIC = 'HOLDFAST-NOTE-1\n';
const NUMBER_AT = MAGIC.length;
const LENGTH_AT = NUMBER_AT + 8;
const TEXT_AT = LENGTH_AT + 4;
const SIDES = [PROBE_OFFSET + BLOCK_SEALED_BYTES, PROBE_OFFSET + 2 * BLOCK_SEALED_BYTES] as const;

/** @returns `undefined` for a disk that never had one */
export async function readDiskNote(path: string): Promise<string | undefined> {
  const file = await BlockFile.open(path);
  try {
    return (await newestNote(file))?.text;
  } finally {
    await file.close();
  }
}

export async function writeDiskNote(path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  if (bytes.length > CONTENT_BYTES - TEXT_AT) {
    throw new StorageFault('disk.no_space', { publicMessage: `a note of ${bytes.length} bytes is too long` });
  }
  const file = await BlockFile.open(path);
  try {
    const before = await newestNote(file);
    const block = Buffer.alloc(BLOCK_SEALED_BYTES);
    block.write(MAGIC, 0, 'latin1');
    block.writeBigUInt64LE((before?.number ?? 0n) + 1n, NUMBER_AT);
    block.writeUInt32LE(bytes.length, LENGTH_AT);
    bytes.copy(block, TEXT_AT);
    seal(block);
    await file.write([block], before?.side === 0 ? SIDES[1] : SIDES[0]);
    await file.syncData();
  } finally {
    await file.close();
  }
}

async function newestNote(
  file: BlockFile,
): Promise<{ number: bigint; text: string; side: 0 | 1 } | undefined> {
  const found = await Promise.all(([0, 1] as const).map((side) => noteAt(file, side)));
  const [one, other] = found;
  if (one === undefined || other === undefined) return one ?? other;
  return other.number > one.number ? other : one;
}

async function noteAt(file: BlockFile, side: 0 | 1) {
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  await file.readInto(block, SIDES[side]);
  if (block.toString('latin1', 0, MAGIC.length) !== MAGIC || !isSealed(block)) return undefined;
  const length = block.readUInt32LE(LENGTH_AT);
  const text = block.toString('utf8', TEXT_AT, TEXT_AT + Math.min(length, CONTENT_BYTES - TEXT_AT));
  return { number: block.readBigUInt64LE(NUMBER_AT), text, side };
}
