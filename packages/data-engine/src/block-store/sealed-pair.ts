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
  | ({ kind: 'held'; before: Buffer | undefined } & Content)
  /** With the one that is whole, if one is: it may have been replaced long ago. */
  | { kind: 'damaged'; left: Content | undefined };

/** @param mayBeNew nothing was written to the places when they were made */
export function readPair(seals: SectorSeals, places: readonly FoundPlace[], mayBeNew: boolean): Pair {
  const states = places.map(({ block, firstSector }) =>
    block === undefined ? (['damaged'] as const) : seals.statesOf(block, firstSector),
  );
  const whole = places.flatMap(({ block }, index) => {
    const [sequence, ...others] = states[index] ?? [];
    const isWhole = typeof sequence === 'number' && others.every((other) => other === sequence);
    return isWhole && block !== undefined ? [{ index, sequence, content: contentIn(block) }] : [];
  });
  const [first, second] = whole;
  const newest = second !== undefined && first !== undefined && follows(second, first) ? second : first;
  if (newest === undefined) {
    const isNew = mayBeNew && states.flat().every((state) => state === 'blank' || state === 1);
    return isNew ? { kind: 'blank' } : { kind: 'damaged', left: undefined };
  }
  const { sequence, content } = newest;
  const beside = [previous(sequence), next(sequence)];
  const isLawful = (states[1 - newest.index] ?? []).every((state) =>
    state === 'blank' ? mayBeNew && sequence === 1 : typeof state === 'number' && beside.includes(state),
  );
  if (!isLawful) return { kind: 'damaged', left: { sequence, content } };
  return { kind: 'held', sequence, content, before: whole.find((one) => one !== newest)?.content };
}

export function next(sequence: number): number {
  return (sequence + 1) % NUMBERS;
}

/** The place, of the two, that what has this number is written to. */
export function whichOf(sequence: number): 0 | 1 {
  return sequence % 2 === 0 ? 0 : 1;
}

function previous(sequence: number): number {
  return (sequence + NUMBERS - 1) % NUMBERS;
}

function follows(one: { sequence: number }, other: { sequence: number }): boolean {
  return one.sequence === next(other.sequence);
}

function contentIn(block: Buffer): Buffer {
  const content = Buffer.alloc(PLACE_CONTENT_BYTES);
  contentOf(block, content);
  return content;
}

/** As they are before anything was written: what has number 0, and what has number 1 and holds. */
export function emptyPair(seals: SectorSeals, firstSectors: readonly [number, number]): Buffer {
  const nothing = Buffer.alloc(PLACE_CONTENT_BYTES);
  return Buffer.concat(firstSectors.map((sector, sequence) => seals.seal(nothing, sector, sequence)));
}

/** How many sectors a place has: places are numbered in them. */
export const SECTORS_PER_PLACE = SECTORS;
