/**
 * Which cluster of the disk holds each part of a file, in pages of 63 MiB that exist where anything was written.
 *
 * A page has two places on the disk, and changes go to the one that does not hold, so that a page that was written in
 * part leaves the one before. Places come eight pages at a time, in a cluster that the file's directory names.
 */
import { BLOCK_SEALED_BYTES, isSealed, seal } from './sealed-block.js';

const ENTRIES_PER_PAGE = 1008;
const ENTRIES_OFFSET = 32;
export const PAGES_PER_CLUSTER = 8;

type Page = {
  /** By cluster of the file: 0 for none, else the disk's cluster and 1. */
  entries: Uint32Array;
  /** Of the one that is durable; 0 for none. */
  sequence: number;
};

/** A page as it is to be written. */
export type StoredPage = { index: number; block: Buffer; which: 0 | 1 };

export class ClusterMap {
  private readonly pages = new Map<number, Page>();
  private readonly dirty = new Set<number>();
  /** Clusters with the places of eight pages each. */
  readonly directory = new Map<number, number>();

  /** @param fileId 16 bytes: a page of a file that had the same cluster before is not taken for ours */
  constructor(private readonly fileId: Buffer) {}

  get(part: number): number | undefined {
    const entry = this.pages.get(Math.floor(part / ENTRIES_PER_PAGE))?.entries[part % ENTRIES_PER_PAGE];
    return entry === undefined || entry === 0 ? undefined : entry - 1;
  }

  /** The directory must know of the part. */
  set(part: number, cluster: number): void {
    this.change(part, cluster + 1);
  }

  clear(part: number): void {
    this.change(part, 0);
  }

  /** The directory's entry that has to exist before the part can be set. */
  static directoryIndex(part: number): number {
    return Math.floor(part / ENTRIES_PER_PAGE / PAGES_PER_CLUSTER);
  }

  /** Parts between `first` and `end` that have a cluster, without looking at empty pages one by one. */
  *mapped(first = 0, end = Number.POSITIVE_INFINITY): Generator<{ part: number; cluster: number }> {
    for (const [index, { entries }] of this.pages) {
      const base = index * ENTRIES_PER_PAGE;
      const stop = Math.min(ENTRIES_PER_PAGE, end - base);
      for (let at = Math.max(0, first - base); at < stop; at += 1) {
        const entry = entries[at] ?? 0;
        if (entry !== 0) yield { part: base + at, cluster: entry - 1 };
      }
    }
  }

  get isDirty(): boolean {
    return this.dirty.size > 0;
  }

  /** What has changed, as it is now. Nothing of it counts as written before `wrote`. */
  takeDirty(): StoredPage[] {
    const taken = [...this.dirty].map((index) => this.encode(index));
    this.dirty.clear();
    return taken;
  }

  /** The pages are durable. */
  wrote(pages: readonly StoredPage[]): void {
    for (const { index } of pages) {
      const page = this.pages.get(index);
      if (page !== undefined) page.sequence += 1;
    }
  }

  /** They may not be. */
  failed(pages: readonly StoredPage[]): void {
    for (const { index } of pages) this.dirty.add(index);
  }

  /** Takes both places of a page as they were found: the newer one that is whole and ours, if there is one. */
  load(index: number, places: readonly [Buffer, Buffer]): void {
    for (const block of places) {
      const sequence = this.sequenceOf(index, block);
      if (sequence <= (this.pages.get(index)?.sequence ?? 0)) continue;
      const entries = new Uint32Array(ENTRIES_PER_PAGE);
      for (let at = 0; at < ENTRIES_PER_PAGE; at += 1)
        entries[at] = block.readUInt32LE(ENTRIES_OFFSET + at * 4);
      this.pages.set(index, { entries, sequence });
    }
  }

  private sequenceOf(index: number, block: Buffer): number {
    const isOurs = block.subarray(0, 16).equals(this.fileId) && block.readUInt32LE(16) === index;
    return isOurs && isSealed(block) ? Number(block.readBigUInt64LE(20)) : 0;
  }

  private encode(index: number): StoredPage {
    const page = this.page(index);
    const sequence = page.sequence + 1;
    const block = Buffer.alloc(BLOCK_SEALED_BYTES);
    this.fileId.copy(block, 0);
    block.writeUInt32LE(index, 16);
    block.writeBigUInt64LE(BigInt(sequence), 20);
    for (const [at, entry] of page.entries.entries()) block.writeUInt32LE(entry, ENTRIES_OFFSET + at * 4);
    seal(block);
    return { index, block, which: sequence % 2 === 0 ? 0 : 1 };
  }

  private change(part: number, entry: number): void {
    const index = Math.floor(part / ENTRIES_PER_PAGE);
    this.page(index).entries[part % ENTRIES_PER_PAGE] = entry;
    this.dirty.add(index);
  }

  private page(index: number): Page {
    let page = this.pages.get(index);
    if (page === undefined) {
      page = { entries: new Uint32Array(ENTRIES_PER_PAGE), sequence: 0 };
      this.pages.set(index, page);
    }
    return page;
  }
}

/** Where a page's place is within the cluster that the directory names. */
export function placeInCluster(index: number, which: 0 | 1): number {
  return ((index % PAGES_PER_CLUSTER) * 2 + which) * BLOCK_SEALED_BYTES;
}
