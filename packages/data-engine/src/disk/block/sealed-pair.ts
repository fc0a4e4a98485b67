/**
 * A/B slots: each update is written to the inactive one of two sides, so a torn write leaves the previous version
 * intact. The roots of a copy are such a pair, and so is each page of a cluster map.
 *
 * Updates are numbered consecutively. So beside the current version there is either the previous one, or the next one
 * as far as it was written when everything stopped. Anything else was never written there: it is damage, and the
 * version that is left may be too old to be trusted.
 */
import { BLOCK_BYTES, SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import { contentOf, SECTOR_CONTENT_BYTES, type SectorSeals, type SectorState } from '../sealed-sectors.js';

/** Bytes of one side. */
export const SLOT_SIDE_BYTES = BLOCK_BYTES;
/** Usable bytes of a side. */
export const SIDE_CONTENT_BYTES = (SLOT_SIDE_BYTES / SECTOR_BYTES) * SECTOR_CONTENT_BYTES;
const SECTORS = SLOT_SIDE_BYTES / SECTOR_BYTES;
const NUMBERS = 2 ** 32;

/** One side as it was read; `undefined` if the disk fails to read it. */
export type SlotSide = { block: Buffer | undefined; firstSector: number };

/** Version in one side. Numbers wrap around after 2^32 updates. */
type Content = { sequence: number; content: Buffer };

export type Pair =
  | { kind: 'blank' }
  /** With the previous version, if that is still whole. */
  | ({ kind: 'held'; before: () => Buffer | undefined } & Content)
  /** With the whole one, if there is one: it may have been replaced long ago. */
  | { kind: 'damaged'; left: Content | undefined };

/** @param mayBeNew true if nothing was written to the sides when they were allocated */
export function readPair(seals: SectorSeals, sides: readonly [SlotSide, SlotSide], mayBeNew: boolean): Pair {
  const [first, second] = [statesIn(seals, sides[0]), statesIn(seals, sides[1])];
  const [one, other] = [wholeIn(first), wholeIn(second)];
  if (one === undefined && other === undefined) {
    const isNew = mayBeNew && [...first, ...second].every((state) => state === 'blank' || state === 1);
    return isNew ? { kind: 'blank' } : { kind: 'damaged', left: undefined };
  }
  const newest = one === undefined || (other !== undefined && other === next(one)) ? 1 : 0;
  const sequence = (newest === 0 ? one : other) ?? 0;
  const content = contentIn(sides[newest]);
  const beside = newest === 0 ? second : first;
  const isLawful = beside.every((state) => isBeside(sequence, state, mayBeNew));
  if (!isLawful) return { kind: 'damaged', left: { sequence, content } };
  const isWhole = one !== undefined && other !== undefined;
  const before = () => (isWhole ? contentIn(sides[newest === 0 ? 1 : 0]) : undefined);
  return { kind: 'held', sequence, content, before };
}

function statesIn(seals: SectorSeals, { block, firstSector }: SlotSide): SectorState[] {
  return block === undefined ? ['damaged'] : seals.statesOf(block, firstSector);
}

/** The sequence number of a whole version; `undefined` if its sectors differ. */
function wholeIn([sequence, ...others]: readonly SectorState[]): number | undefined {
  if (typeof sequence !== 'number') return undefined;
  return others.every((other) => other === sequence) ? sequence : undefined;
}

/** True if a sector of the other side may have this state beside a version of the given number. */
function isBeside(sequence: number, state: SectorState, mayBeNew: boolean): boolean {
  if (state === 'blank') return mayBeNew && sequence === 1;
  return typeof state === 'number' && (state === next(sequence) || next(state) === sequence);
}

export function next(sequence: number): number {
  return (sequence + 1) % NUMBERS;
}

/** The side that an update of this number is written to. */
export function whichOf(sequence: number): 0 | 1 {
  return sequence % 2 === 0 ? 0 : 1;
}

function contentIn({ block }: SlotSide): Buffer {
  const content = Buffer.alloc(SIDE_CONTENT_BYTES);
  if (block !== undefined) contentOf(block, content);
  return content;
}

/** Initial content of both sides: number 0, and number 1, which is current. */
export function emptyPair(seals: SectorSeals, firstSectors: readonly [number, number]): Buffer {
  const nothing = Buffer.alloc(SIDE_CONTENT_BYTES);
  return Buffer.concat(firstSectors.map((sector, sequence) => seals.seal(nothing, sector, sequence)));
}

/** Sectors in a side; sides are numbered in sectors. */
export const SECTORS_PER_SIDE = SECTORS;
