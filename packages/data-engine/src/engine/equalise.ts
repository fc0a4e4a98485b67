/** Resync of one byte range that the caller has locked: makes all current copies equal in it. */
import { BLOCK_BYTES, MIB } from '@holdfast/core/model/bytes.js';
import { NbdErrno } from '../nbd/constants.js';
import { NbdError } from '../nbd/errors.js';
import { contiguous, type Payload } from '../nbd/export.js';
import type { Copies } from './copies.js';
import type { ReplicaLink } from './replica-link.js';

/** Bytes that are compared, and locked against writes, at once. */
export const STEP_BYTES = MIB;

/** A change that was refused, though some copies may have applied a part of it. Without a payload it wrote zeros. */
export type Refused = { offset: number; payload: Payload | undefined; lengthBytes: number };

const ZERO_BLOCK = Buffer.alloc(BLOCK_BYTES);

/**
 * Copies the range from one current copy to all the others. A copy that can't take the bytes is dropped, as long as
 * another is left. Copies that are being rebuilt are skipped: they receive every change anyway.
 * @returns the bytes that all copies hold then
 */
export async function equaliseRange(copies: Copies, start: number, end: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let at = start; at < end; at += STEP_BYTES) {
    const stop = Math.min(at + STEP_BYTES, end);
    const { source } = copies.reads;
    const wanted = contiguous(await copies.reads.read(at, stop - at));
    // The copy that was read from is known only if reads were pinned to it before and after; otherwise all are
    // compared.
    const others = copies.withMode('RW').filter((link) => link !== source || copies.reads.source !== source);
    await Promise.all(others.map((link) => equaliseOne(copies, link, at, wanted)));
    await copies.membership.recordDurable();
    pieces.push(wanted);
  }
  return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
}

async function equaliseOne(copies: Copies, link: ReplicaLink, start: number, wanted: Buffer): Promise<void> {
  try {
    const held = contiguous(await link.client.read(start, wanted.length));
    if (!held.equals(wanted)) await link.client.write(start, [wanted], wanted.length, { fua: false });
  } catch (error) {
    // `fail` keeps the last current copy: its own content counts then.
    copies.fail(link, error);
  }
}

/**
 * Rolls back a change that was refused for lack of space. Blocks that differ get the data from before the change, if
 * any copy still has it. This overwrites allocated blocks, and so takes no space.
 */
export async function undoRefused(
  copies: Copies,
  start: number,
  end: number,
  refused: Refused,
): Promise<void> {
  const payload = refused.payload && contiguous(refused.payload);
  for (let at = start; at < end; at += STEP_BYTES) {
    const stop = Math.min(at + STEP_BYTES, end);
    const held = await readAll(copies, at, stop - at);
    if (held.length === 0) throw new NbdError(NbdErrno.Io, 'what a refused change left can not be read');
    const wanted = Buffer.alloc(stop - at);
    for (let block = at; block < stop; block += BLOCK_BYTES) {
      const pieces = held.map(({ bytes }) => bytes.subarray(block - at, block - at + BLOCK_BYTES));
      const older = pieces.find((piece) => !hasNew(piece, block, payload, refused)) ?? pieces[0];
      older?.copy(wanted, block - at);
    }
    await Promise.all(held.map(({ link, bytes }) => putDiffering(copies, link, at, wanted, bytes)));
    // Rebuild targets are written as a whole: how much of the refused change they applied is unknown.
    await Promise.all(copies.withMode('WO').map((link) => putDiffering(copies, link, at, wanted, undefined)));
    await copies.membership.recordDurable();
  }
}

type Held = { link: ReplicaLink; bytes: Buffer };

async function readAll(copies: Copies, at: number, lengthBytes: number): Promise<Held[]> {
  const read = await Promise.all(
    copies.withMode('RW').map(async (link) => {
      try {
        return [{ link, bytes: contiguous(await link.client.read(at, lengthBytes)) }];
      } catch (error) {
        copies.fail(link, error);
        return [];
      }
    }),
  );
  return read.flat();
}

/** True if the block holds the data of the refused change, as far as the change reached into it. */
function hasNew(
  piece: Buffer,
  block: number,
  payload: Buffer | undefined,
  { offset, lengthBytes }: Refused,
): boolean {
  const from = Math.max(block, offset);
  const to = Math.min(block + BLOCK_BYTES, offset + lengthBytes);
  if (to <= from) return false;
  const now = payload ? payload.subarray(from - offset, to - offset) : ZERO_BLOCK.subarray(0, to - from);
  return piece.subarray(from - block, to - block).equals(now);
}

/** Writes the runs of blocks that differ; all blocks if the held data is unknown. */
async function putDiffering(
  copies: Copies,
  link: ReplicaLink,
  at: number,
  wanted: Buffer,
  held: Buffer | undefined,
): Promise<void> {
  const differs = (from: number) =>
    from < wanted.length &&
    !held?.subarray(from, from + BLOCK_BYTES).equals(wanted.subarray(from, from + BLOCK_BYTES));
  try {
    for (let from = 0; from < wanted.length; from += BLOCK_BYTES) {
      let to = from;
      while (differs(to)) to += BLOCK_BYTES;
      if (to === from) continue;
      const piece = wanted.subarray(from, to);
      await link.client.write(at + from, [piece], piece.length, { fua: false });
      from = to;
    }
  } catch (error) {
    copies.fail(link, error);
  }
}
