/**
 * Two places of which changes go to the one that does not hold, so that one that was cut short leaves the one before.
 *
 * Each change has the number after the one before it. So next to what holds there is what held before, or what was being
 * written when everything stopped, in part or as a whole. Anything else was never written there: it is damage, and what
 * is left may be too old to be believed.
 */
import {
  contentOf,
  SECTOR_BYTES,
  SECTOR_CONTENT_BYTES,
  type SectorSeals,
  type SectorState,
} from '../replica/sealed-sectors.js';

export const PLACE_BYTES = 4096;
/** What can be used of a place. */
export const PLACE_CONTENT_BYTES = (PLACE_BYTES / SECTOR_BYTES) * SECTOR_CONTENT_BYTES;
const SECTORS = PLACE_BYTES / SECTOR_BYTES;
const NUMBERS = 2 ** 32;

/** One place as it was found; `undefined` where the disk fails to read it. */
export type FoundPlace = { block: Buffer | undefined; firstSector: number };

/** What one place holds. Numbers come round after 2^32 changes. */
type Content = { sequence: number; content: Buffer };

export type Pair =
  | { kind: 'blank' }
  /** With what held before, where that is still whole. */
  | ({ kind: 'held'; before: () => Buffer | undefined } & Content)
  /** With the one that is whole, if one is: it may have been replaced long ago. */
  | { kind: 'damaged'; left: Content | undefined };

/** @param mayBeNew nothing was written to the places when they were made */
export function readPair(
  seals: SectorSeals,
  places: readonly [FoundPlace, FoundPlace],
  mayBeNew: boolean,
): Pair {
  const [first, second] = [statesIn(seals, places[0]), statesIn(seals, places[1])];
  const [one, other] = [wholeIn(first), wholeIn(second)];
  if (one === undefined && other === undefined) {
    const isNew = mayBeNew && [...first, ...second].every((state) => state === 'blank' || state === 1);
    return isNew ? { kind: 'blank' } : { kind: 'damaged', left: undefined };
  }
  const newest = one === undefined || (other !== undefined && other === next(one)) ? 1 : 0;
  const sequence = (newest === 0 ? one : other) ?? 0;
  const content = contentIn(places[newest]);
  const beside = newest === 0 ? second : first;
  const isLawful = beside.every((state) => isBeside(sequence, state, mayBeNew));
  if (!isLawful) return { kind: 'damaged', left: { sequence, content } };
  const isWhole = one !== undefined && other !== undefined;
  const before = () => (isWhole ? contentIn(places[newest === 0 ? 1 : 0]) : undefined);
  return { kind: 'held', sequence, content, before };
}

function statesIn(seals: SectorSeals, { block, firstSector }: FoundPlace): SectorState[] {
  return block === undefined ? ['damaged'] : seals.statesOf(block, firstSector);
}

/** The number of what is there as a whole. */
function wholeIn([sequence, ...others]: readonly SectorState[]): number | undefined {
  if (typeof sequence !== 'number') return undefined;
  return others.every((other) => other === sequence) ? sequence : undefined;
}

/** Whether a sector of the other place may hold this, next to what has that number. */
function isBeside(sequence: number, state: SectorState, mayBeNew: boolean): boolean {
  if (state === 'blank') return mayBeNew && sequence === 1;
  return typeof state === 'number' && (state === next(sequence) || next(state) === sequence);
}

export function next(sequence: number): number {
  return (sequence + 1) % NUMBERS;
}

/** The place, of the two, that what has this number is written to. */
export function whichOf(sequence: number): 0 | 1 {
  return sequence % 2 === 0 ? 0 : 1;
}

function contentIn({ block }: FoundPlace): Buffer {
  const content = Buffer.alloc(PLACE_CONTENT_BYTES);
  if (block !== undefined) contentOf(block, content);
  return content;
}

/** As they are before anything was written: what has number 0, and what has number 1 and holds. */
export function emptyPair(seals: SectorSeals, firstSectors: readonly [number, number]): Buffer {
  const nothing = Buffer.alloc(PLACE_CONTENT_BYTES);
  return Buffer.concat(firstSectors.map((sector, sequence) => seals.seal(nothing, sector, sequence)));
}

/** How many sectors a place has: places are numbered in them. */
export const SECTORS_PER_PLACE = SECTORS;
