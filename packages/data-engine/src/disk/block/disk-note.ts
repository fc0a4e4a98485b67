/**
 * A block disk's note: a short text of the agent in two blocks behind the probe block. It is a sealed pair (`sealed-pair.ts`): each
 * note overwrites the older of the two, so a torn write leaves the previous note and is told from damage. Formatting writes an empty
 * note.
 *
 * Disks of formats 2 and 3 have notes of an earlier kind, for which a damaged note looked like a missing one (`old-disk-note.ts`).
 */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { BlockFile } from '../block-file.js';
import { SectorSeals } from '../sealed-sectors.js';
import type { BlockDevice } from './block-devices.js';
import { readLayout } from './block-disk.js';
import { damagedDisk, FIRST_SEALED_NOTE, type Layout, NOTE_OFFSETS } from './layout.js';
import { newestOldNote, writeOldNote } from './old-disk-note.js';
import {
  next,
  readPair,
  SECTORS_PER_SIDE,
  SIDE_CONTENT_BYTES,
  SLOT_SIDE_BYTES,
  whichOf,
} from './sealed-pair.js';

const TEXT_AT = 4;
/** Longest note, in bytes. */
const NOTE_BYTES_MAX = SIDE_CONTENT_BYTES - TEXT_AT;

type Note = { sequence: number; text: string | undefined };

/**
 * @returns `undefined` for a disk that never had one
 * @throws StorageFault `disk.wrong_identity` where it is not what was written there
 */
export async function readDiskNote(path: string): Promise<string | undefined> {
  const file = await BlockFile.open(path);
  try {
    const layout = await readLayout(file, path);
    return isSealed(layout) ? (await readNote(file, layout)).text : await oldNoteText(file, layout);
  } finally {
    await file.close();
  }
}

export async function writeDiskNote(path: string, text: string): Promise<void> {
  const bytes = Buffer.from(text);
  if (bytes.length > NOTE_BYTES_MAX) {
    throw new StorageFault('disk.no_space', { publicMessage: `a note of ${bytes.length} bytes is too long` });
  }
  const file = await BlockFile.open(path);
  try {
    const layout = await readLayout(file, path);
    if (isSealed(layout)) await writeNote(file, layout, next((await readNote(file, layout)).sequence), text);
    else await writeOldNote(file, bytes);
    await file.syncData();
  } finally {
    await file.close();
  }
}

/** Writes the empty note of a new disk; durable with the next sync. */
export async function writeEmptyNote(file: BlockDevice, layout: Layout): Promise<void> {
  for (const sequence of [0, 1]) await writeNote(file, layout, sequence, '');
}

/**
 * Converts the note of an earlier format to today's. At any moment one of the two blocks holds the text in one of the two formats, so
 * a crash loses nothing.
 */
export async function renewNote(file: BlockDevice, layout: Layout): Promise<void> {
  const old = await newestOldNote(file);
  const text = (await oldNoteText(file, layout)) ?? '';
  // Over the older of the two first.
  const sequence = old?.side === 1 ? 2 : 1;
  await writeNote(file, layout, sequence, text);
  await file.syncData();
  await writeNote(file, layout, sequence - 1, '');
  await file.syncData();
}

/** A note of the earlier kind, or one of today's that an interrupted renewal has left. */
async function oldNoteText(file: BlockDevice, layout: Layout): Promise<string | undefined> {
  const old = await newestOldNote(file);
  if (old !== undefined) return old.text;
  const pair = await pairOf(file, layout);
  const content =
    pair.kind === 'held' ? pair.content : pair.kind === 'damaged' ? pair.left?.content : undefined;
  return content && textIn(content);
}

async function readNote(file: BlockDevice, layout: Layout): Promise<Note> {
  const pair = await pairOf(file, layout);
  if (pair.kind !== 'held') throw damagedDisk('its note is not what was written there');
  return { sequence: pair.sequence, text: textIn(pair.content) };
}

async function pairOf(file: BlockDevice, layout: Layout) {
  const blocks = [Buffer.alloc(SLOT_SIDE_BYTES), Buffer.alloc(SLOT_SIDE_BYTES)] as const;
  const found = (which: 0 | 1) => ({ block: blocks[which], firstSector: which * SECTORS_PER_SIDE });
  for (const which of [0, 1] as const) await file.readInto(blocks[which], NOTE_OFFSETS[which]);
  return readPair(sealsOf(layout), [found(0), found(1)], false);
}

function textIn(content: Buffer): string | undefined {
  const length = Math.min(content.readUInt32LE(0), NOTE_BYTES_MAX);
  return length === 0 ? undefined : content.toString('utf8', TEXT_AT, TEXT_AT + length);
}

async function writeNote(file: BlockDevice, layout: Layout, sequence: number, text: string): Promise<void> {
  const content = Buffer.alloc(SIDE_CONTENT_BYTES);
  content.writeUInt32LE(Buffer.byteLength(text), 0);
  content.write(text, TEXT_AT);
  const which = whichOf(sequence);
  const block = sealsOf(layout).seal(content, which * SECTORS_PER_SIDE, sequence);
  await file.write([block], NOTE_OFFSETS[which]);
}

function sealsOf({ diskId }: Layout): SectorSeals {
  return new SectorSeals(`note ${diskId}`);
}

function isSealed({ format }: Layout): boolean {
  return format >= FIRST_SEALED_NOTE;
}
