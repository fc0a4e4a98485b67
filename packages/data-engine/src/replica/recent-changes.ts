/**
 * What a copy has changed lately, in memory: all that some other copy, whose process dies, may not have durably.
 *
 * An engine's flushes follow each other: when one comes, the one before it has ended on all copies. And none begins while a
 * change is under way that had begun before the one before it. So when the fourth flush after a change comes here, the third
 * one has made it durable everywhere: the change began before the first, and had ended when the third began.
 */
import { BLOCK_BYTES, KIB } from '@holdfast/core/model/bytes.js';

export const STRETCH_BYTES = 64 * KIB;
const BLOCKS_PER_STRETCH = STRETCH_BYTES / BLOCK_BYTES;
/** Periods between flushes that are remembered beside the current one. */
const PERIODS_KEPT = 3;
/**
 * More stretches in one period than this are not told apart: 2 GiB. Engines flush long before; one that does not, or zeroes
 * more than that at once, must not cost the copy its memory.
 */
const STRETCHES_MAX = 32_768;

/** By stretch, which of its blocks: bit 0 for the first one. `undefined` where they were too many. */
type Period = Map<number, number> | undefined;

export class RecentChanges {
  private current: Period = new Map();
  private earlier: Period[] = [];

  /** A change has ended. */
  add(offset: number, lengthBytes: number): void {
    if (this.current === undefined || lengthBytes === 0) return;
    const end = offset + lengthBytes;
    for (let at = offset; at < end; ) {
      const stretch = Math.floor(at / STRETCH_BYTES);
      const start = stretch * STRETCH_BYTES;
      const stop = Math.min(end, start + STRETCH_BYTES);
      const first = (at - start) / BLOCK_BYTES;
      const count = (stop - at) / BLOCK_BYTES;
      this.current.set(stretch, (this.current.get(stretch) ?? 0) | (((1 << count) - 1) << first));
      at = stop;
      if (this.current.size > STRETCHES_MAX) {
        this.current = undefined;
        return;
      }
    }
  }

  /** A flush of the engine has come, before it is carried out. */
  flushing(): void {
    this.earlier = [...this.earlier, this.current].slice(-PERIODS_KEPT);
    this.current = new Map();
  }

  /** Another engine, or another connection of the same one, whose flushes are counted from the beginning. */
  startOver(): void {
    this.current = this.union();
    this.earlier = [];
  }

  /** Stretches and their blocks in order; `undefined` when they are too many to be told apart. */
  list(): [stretch: number, blocks: number][] | undefined {
    const all = this.union();
    return all && [...all].sort(([a], [b]) => a - b);
  }

  private union(): Period {
    const union = new Map<number, number>();
    for (const period of [...this.earlier, this.current]) {
      if (period === undefined) return undefined;
      for (const [stretch, blocks] of period) union.set(stretch, (union.get(stretch) ?? 0) | blocks);
    }
    return union.size > (PERIODS_KEPT + 1) * STRETCHES_MAX ? undefined : union;
  }
}

/** One block after the other of what `RecentChanges` lists, as byte ranges: from the first to the last of a stretch. */
export function rangesOfStretches(
  list: readonly (readonly [number, number])[],
): { start: number; end: number }[] {
  return list.map(([stretch, blocks]) => {
    const start = stretch * STRETCH_BYTES;
    const last = 31 - Math.clz32(blocks & ((1 << BLOCKS_PER_STRETCH) - 1));
    const first = 31 - Math.clz32(blocks & -blocks);
    return { start: start + first * BLOCK_BYTES, end: start + (last + 1) * BLOCK_BYTES };
  });
}

const ENTRY_BYTES = 6;
/** In one answer: 64 KiB as text. */
const ENTRIES_PER_ANSWER = 8192;

export function encodeStretches(
  list: readonly (readonly [number, number])[] | undefined,
  from: number,
): { stretches: string | null; next: number | null } {
  if (list === undefined) return { stretches: null, next: null };
  const page = list.slice(from, from + ENTRIES_PER_ANSWER);
  const bytes = Buffer.alloc(page.length * ENTRY_BYTES);
  for (const [index, [stretch, blocks]] of page.entries()) {
    bytes.writeUInt32LE(stretch, index * ENTRY_BYTES);
    bytes.writeUInt16LE(blocks & 0xffff, index * ENTRY_BYTES + 4);
  }
  const end = from + page.length;
  return { stretches: bytes.toString('base64'), next: end < list.length ? end : null };
}

export function decodeStretches(text: string): [stretch: number, blocks: number][] {
  const bytes = Buffer.from(text, 'base64');
  const list: [number, number][] = [];
  for (let at = 0; at + ENTRY_BYTES <= bytes.length; at += ENTRY_BYTES) {
    list.push([bytes.readUInt32LE(at), bytes.readUInt16LE(at + 4)]);
  }
  return list;
}
