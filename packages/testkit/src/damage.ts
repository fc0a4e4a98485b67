/**
 * Damage of everything that is stored: each structure is made by what writes it in production, harmed byte by byte, and read by what reads
 * it in production. It has to read as it was, or be refused with a code: never as something else, and never as if nothing were there.
 */
import fs from 'node:fs';
import path from 'node:path';
import { isFault } from '@holdfast/core/model/faults.js';

/** A structure, made and ready to be harmed. */
export type Stored = {
  file: string;
  /** The part of the file that it takes; left out: all of it. */
  from?: number;
  bytes?: number;
  /** Pages that are no part of it, such as users' data; left out: none. */
  isOther?: (page: Buffer) => boolean;
  /** Its result, in a comparable form. */
  read: () => Promise<unknown>;
};

export type Structure = {
  name: string;
  /** Sources that write it, from the folder of the sources. */
  writers: readonly string[];
  /** Codes by which damage is refused. */
  refusals: readonly string[];
  /** Acceptable result of reading a damaged one, and why it does no harm. */
  also?: { told: unknown; when: (damage: Damage) => boolean; because: string };
  /** Kinds of damage; left out: all. */
  kinds?: readonly Damage['kind'][];
  make: (folder: string) => Promise<Stored>;
};

export type Density = {
  /** Bytes from the start of which each one is flipped. */
  headBytes: number;
  /** Distance of the others that flip. */
  flipStride: number;
  cutStride: number;
  /** The least window that is blanked; left out: all are. */
  windowBytesMin?: number;
};

export type Damage = { kind: 'flip' | 'cut' | 'blank'; at: number; bytes: number };

/** The end of a structure, where its checksum is. */
const SEAL_BYTES = 80;
const SMALL_BYTES = 64 * 1024;
const PLACES_MAX = 20_000;
/** A file that is cut within its head is refused for its length, so there each length is like the others. */
const CUTS_AT_HEAD_MAX = 200;
const PAGE_BYTES = 4096;
const WINDOWS = [512, PAGE_BYTES, 2 * PAGE_BYTES];
const CHUNK_BYTES = 2 ** 20;
const ZEROS = Buffer.alloc(CHUNK_BYTES);

/** Damaged places: the head, the end of each sector of it, and others at a distance. */
function* placesIn(sizeBytes: number, headBytes: number, stride: number): Generator<number> {
  // A file that is much larger than what describes it is harmed in so many places at most.
  const step = Math.max(stride, Math.ceil(sizeBytes / PLACES_MAX));
  for (let at = 0; at < Math.min(sizeBytes, headBytes); at += 1) yield at;
  for (let at = headBytes; at < sizeBytes; at += step) yield at;
  for (let at = Math.max(headBytes, sizeBytes - SEAL_BYTES); at < sizeBytes; at += 1) yield at;
}

function* damagesOf(
  kind: Damage['kind'],
  sizeBytes: number,
  { headBytes, flipStride, cutStride, windowBytesMin = 0 }: Density,
): Generator<Damage> {
  if (kind === 'flip') {
    for (const at of placesIn(sizeBytes, headBytes, flipStride)) yield { kind, at, bytes: 1 };
  } else if (kind === 'cut') {
    for (const at of placesIn(sizeBytes, Math.min(headBytes, CUTS_AT_HEAD_MAX), cutStride))
      yield { kind, at, bytes: sizeBytes - at };
  } else {
    for (const bytes of WINDOWS) {
      if (bytes < windowBytesMin) continue;
      for (let at = 0; at < sizeBytes; at += bytes)
        yield { kind, at, bytes: Math.min(bytes, sizeBytes - at) };
    }
  }
}

/** @returns damage that was believed or ended otherwise than by a refusal: none, if all is well; and the number of damages */
export async function harm(
  structure: Structure,
  { file, from = 0, bytes, isOther, read }: Stored,
  density: Density,
): Promise<{ wrong: string[]; count: number }> {
  const right = JSON.stringify(await read());
  const whole = fs.readFileSync(file);
  const sizeBytes = bytes ?? whole.length - from;
  const wrong: string[] = [];
  let count = 0;
  const kinds = structure.kinds ?? (['flip', 'cut', 'blank'] as const);
  for (const damage of kinds.flatMap((kind) => [...damagesOf(kind, sizeBytes, density)])) {
    if (damage.kind !== 'cut' && isOther?.(pageAt(whole, from + damage.at)) === true) continue;
    if (!inflict(file, whole, from, damage)) continue;
    count += 1;
    const told = await outcomeOf(structure, damage, read, right);
    if (told !== undefined) wrong.push(`${damage.kind} of ${damage.bytes} at ${from + damage.at}: ${told}`);
    mend(file, whole, from, damage);
  }
  return { wrong, count };
}

/** @returns whether anything has changed */
function inflict(file: string, whole: Buffer, from: number, { kind, at, bytes }: Damage): boolean {
  const position = from + at;
  if (kind === 'cut') {
    fs.truncateSync(file, position);
    return true;
  }
  const harmed = Buffer.from(whole.subarray(position, position + bytes));
  // Bits in turn, the lowest most often: it turns one digit into another.
  if (kind === 'flip') harmed.writeUInt8((harmed[0] ?? 0) ^ (1 << (at % 2 === 0 ? 0 : at % 8)), 0);
  else harmed.fill(0);
  if (harmed.equals(whole.subarray(position, position + bytes))) return false;
  write(file, harmed, position);
  return true;
}

function mend(file: string, whole: Buffer, from: number, { kind, at, bytes }: Damage): void {
  // As a whole where it is small: what reads it may have made it anew.
  if (whole.length <= SMALL_BYTES) {
    fs.writeFileSync(file, whole);
    return;
  }
  const isCut = fs.statSync(file).size !== whole.length;
  if (isCut) fs.truncateSync(file, whole.length);
  const end = isCut ? whole.length : from + at + bytes;
  // Truncated parts read as zeros: most of a block disk does anyway.
  for (let position = from + at; position < end; position += CHUNK_BYTES) {
    const chunk = whole.subarray(position, Math.min(end, position + CHUNK_BYTES));
    if (kind !== 'cut' || !isZeros(chunk)) write(file, chunk, position);
  }
}

function pageAt(whole: Buffer, position: number): Buffer {
  const start = position - (position % PAGE_BYTES);
  return whole.subarray(start, start + PAGE_BYTES);
}

export function isZeros(bytes: Buffer): boolean {
  return bytes.equals(ZEROS.subarray(0, bytes.length));
}

function write(file: string, bytes: Buffer, position: number): void {
  const fd = fs.openSync(file, 'r+');
  fs.writeSync(fd, bytes, 0, bytes.length, position);
  fs.closeSync(fd);
}

async function outcomeOf(
  { refusals, also }: Structure,
  damage: Damage,
  read: () => Promise<unknown>,
  right: string,
): Promise<string | undefined> {
  try {
    const told = JSON.stringify(await read());
    if (told === right) return undefined;
    if (also?.when(damage) === true && told === JSON.stringify(also.told)) return undefined;
    return `believed ${told?.slice(0, 120)}`;
  } catch (error) {
    if (isFault(error) && refusals.includes(error.code)) return undefined;
    return `ended with ${isFault(error) ? error.code : String(error)}`;
  }
}

/** Calls by which bytes get into a file: through a store of copies, on a block disk, or of a file of the process's own. */
const STORING =
  /(?:\bwriteDurably|\.createFile|\.writeText|\bplain\.write|\b(?:file|handle)\.write|\bwriteFile(?:Sync)?|\bappendFile)\(/;

/** The sources of a folder that store something, by their paths in it. */
export function sourcesThatStore(folder: string): string[] {
  return fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => STORING.test(fs.readFileSync(path.join(folder, name), 'utf8')))
    .sort();
}
