/**
 * Allocation bitmap of a layer: one bit per block that the layer holds, in pages that are allocated on first use, so
 * that the map of an empty 1 TiB layer costs nothing.
 */
import { BLOCK_BYTES } from '@holdfast/core/model/bytes.js';

/** Bytes of bitmap in one stored page (`map-file.ts`): the bits of 126 MiB. */
export const PAGE_BYTES = 4032;
export const BLOCKS_PER_PAGE = PAGE_BYTES * 8;

/** A run of blocks, `first` to `first + count - 1`, all held or all not. */
export type BlockRun = { first: number; count: number; held: boolean };

export type MapPage = { index: number; bytes: Uint8Array };

export class BlockMap {
  private readonly pages = new Map<number, Uint8Array>();
  private readonly dirty = new Set<number>();
  /** Pages that are being stored. Copy-on-write: a change of such a page goes to a new piece of memory. */
  private readonly lent = new Set<Uint8Array>();
  private held = 0;
  private changeCount = 0;

  constructor(private blocks: number) {}

  /** Grows with each write to the layer: results computed from its data hold as long as it is unchanged. */
  get changes(): number {
    return this.changeCount;
  }

  get blockCount(): number {
    return this.blocks;
  }

  /** Raises the number of blocks; added ones are not held. Never shrinks. */
  grow(blockCount: number): void {
    this.blocks = Math.max(this.blocks, blockCount);
  }

  get heldBlocks(): number {
    return this.held;
  }

  get pageCount(): number {
    return pagesOf(this.blockCount);
  }

  has(block: number): boolean {
    const page = this.pages.get(Math.floor(block / BLOCKS_PER_PAGE));
    if (page === undefined) return false;
    const bit = block % BLOCKS_PER_PAGE;
    return ((page[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  setRange(first: number, count: number): void {
    this.change(first, count, true);
  }

  clearRange(first: number, count: number): void {
    this.change(first, count, false);
  }

  /** The run that starts at `first`, cut off at `limit` blocks. Past the end of the layer no block is held. */
  runAt(first: number, limit: number): BlockRun {
    if (first >= this.blockCount) return { first, count: limit, held: false };
    const held = this.has(first);
    const end = Math.min(first + limit, this.blockCount);
    let at = first + 1;
    while (at < end) {
      const pageIndex = Math.floor(at / BLOCKS_PER_PAGE);
      const page = this.pages.get(pageIndex);
      if (page === undefined) {
        if (held) break;
        at = (pageIndex + 1) * BLOCKS_PER_PAGE;
        continue;
      }
      const bit = at % BLOCKS_PER_PAGE;
      // Skips whole bytes that are all ones or all zeros: long runs are the usual case.
      if ((bit & 7) === 0 && page[bit >>> 3] === (held ? 0xff : 0)) {
        at += 8;
        continue;
      }
      if ((((page[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0) !== held) break;
      at += 1;
    }
    const reached = Math.min(at, end);
    const isOpenEnd = !held && reached === this.blockCount;
    return { first, count: isOpenEnd ? limit : reached - first, held };
  }

  /** The first held block at or after `first`; `undefined` if there is none. */
  nextHeld(first: number): number | undefined {
    if (first >= this.blockCount) return undefined;
    if (this.has(first)) return first;
    const next = first + this.runAt(first, this.blockCount - first).count;
    return next < this.blockCount ? next : undefined;
  }

  /** All runs of held blocks between `first` and `end`, in order. */
  *heldRuns(first = 0, end = this.blockCount): Generator<{ first: number; count: number }> {
    for (let at = first; at < end; ) {
      const run = this.runAt(at, end - at);
      if (run.held) yield { first: run.first, count: run.count };
      at += run.count;
    }
  }

  /**
   * The pages changed since the last call, in order. They don't change until they are given back; copy-on-write
   * avoids duplicating all of them.
   */
  takeDirty(): MapPage[] {
    const taken = [...this.dirty].sort((a, b) => a - b).map((index) => ({ index, bytes: this.page(index) }));
    this.dirty.clear();
    for (const { bytes } of taken) this.lent.add(bytes);
    return taken;
  }

  giveBack(pages: readonly MapPage[]): void {
    for (const { bytes } of pages) this.lent.delete(bytes);
  }

  /** Returns pages that could not be stored: the next `takeDirty` takes them again, with the bits of that time. */
  keepDirty(pages: readonly MapPage[]): void {
    for (const { index } of pages) this.dirty.add(index);
  }

  get isDirty(): boolean {
    return this.dirty.size > 0;
  }

  /** Loads a page from its stored bytes. */
  loadPage(index: number, bytes: Uint8Array): void {
    this.pages.set(index, bytes);
    for (const byte of bytes) this.held += BITS_SET[byte] ?? 0;
  }

  private change(first: number, count: number, held: boolean): void {
    this.changeCount += 1;
    const end = first + count;
    for (let at = first; at < end; ) {
      const pageIndex = Math.floor(at / BLOCKS_PER_PAGE);
      const pageEnd = Math.min(end, (pageIndex + 1) * BLOCKS_PER_PAGE);
      // A missing page holds no block, so clearing bits in it is a no-op.
      if (held || this.pages.has(pageIndex)) this.changeInPage(pageIndex, at, pageEnd, held);
      at = pageEnd;
    }
  }

  private changeInPage(pageIndex: number, first: number, end: number, held: boolean): void {
    const page = this.ownPage(pageIndex);
    const base = pageIndex * BLOCKS_PER_PAGE;
    const before = this.held;
    for (let at = first - base; at < end - base; ) {
      const whole = (at & 7) === 0 && at + 8 <= end - base;
      const mask = whole ? 0xff : 1 << (at & 7);
      const old = page[at >>> 3] ?? 0;
      const next = held ? old | mask : old & ~mask;
      page[at >>> 3] = next;
      this.held += (BITS_SET[next] ?? 0) - (BITS_SET[old] ?? 0);
      at += whole ? 8 : 1;
    }
    if (this.held !== before) this.dirty.add(pageIndex);
  }

  private ownPage(index: number): Uint8Array {
    const page = this.page(index);
    if (!this.lent.has(page)) return page;
    const own = Uint8Array.from(page);
    this.pages.set(index, own);
    return own;
  }

  private page(index: number): Uint8Array {
    let page = this.pages.get(index);
    if (page === undefined) {
      page = new Uint8Array(PAGE_BYTES);
      this.pages.set(index, page);
    }
    return page;
  }
}

export function blocksOf(sizeBytes: number): number {
  return Math.ceil(sizeBytes / BLOCK_BYTES);
}

/** Number of pages of a map with so many blocks. */
export function pagesOf(blockCount: number): number {
  return Math.ceil(blockCount / BLOCKS_PER_PAGE);
}

/** Population count of each byte value. */
const BITS_SET = Uint8Array.from({ length: 256 }, (_, byte) => {
  let count = 0;
  for (let rest = byte; rest > 0; rest >>>= 1) count += rest & 1;
  return count;
});
