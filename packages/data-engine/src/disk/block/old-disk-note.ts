/** The note of a block disk of format 2 or 3: two blocks, each sealed as a whole. The valid one with the higher number is read. */
import { BLOCK_SEALED_BYTES, CONTENT_BYTES, isSealed, seal } from '../sealed-block.js';
import type { BlockDevice } from './block-devices.js';
import { NOTE_OFFSETS } from './layout.js';

const MAGIC = 'HOLDFAST-NOTE-1\n';
const NUMBER_AT = MAGIC.length;
const LENGTH_AT = NUMBER_AT + 8;
const TEXT_AT = LENGTH_AT + 4;

type OldNote = { number: bigint; text: string; side: 0 | 1 };

export async function newestOldNote(file: BlockDevice): Promise<OldNote | undefined> {
  const [one, other] = [await noteAt(file, 0), await noteAt(file, 1)];
  if (one === undefined || other === undefined) return one ?? other;
  return other.number > one.number ? other : one;
}

/** The caller has checked the length, and syncs. */
export async function writeOldNote(file: BlockDevice, bytes: Buffer): Promise<void> {
  const before = await newestOldNote(file);
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  block.write(MAGIC, 0, 'latin1');
  block.writeBigUInt64LE((before?.number ?? 0n) + 1n, NUMBER_AT);
  block.writeUInt32LE(bytes.length, LENGTH_AT);
  bytes.copy(block, TEXT_AT);
  seal(block);
  await file.write([block], NOTE_OFFSETS[before?.side === 0 ? 1 : 0]);
}

async function noteAt(file: BlockDevice, side: 0 | 1): Promise<OldNote | undefined> {
  const block = Buffer.alloc(BLOCK_SEALED_BYTES);
  await file.readInto(block, NOTE_OFFSETS[side]);
  if (block.toString('latin1', 0, MAGIC.length) !== MAGIC || !isSealed(block)) return undefined;
  const length = block.readUInt32LE(LENGTH_AT);
  const text = block.toString('utf8', TEXT_AT, TEXT_AT + Math.min(length, CONTENT_BYTES - TEXT_AT));
  return { number: block.readBigUInt64LE(NUMBER_AT), text, side };
}
