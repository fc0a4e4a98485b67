/**
 * Cluster map of a file: which cluster of the disk holds each part, in pages of 63 MiB that are allocated on first
 * use.
 *
 * Each page has A/B slots: an update is written to the inactive side, so a torn write leaves the previous version
 * intact. Space is allocated for eight pages at a time, in a cluster that the file's directory names.
 */
import { SectorSeals } from '../sealed-sectors.js';
import {
  emptyPair,
  next,
  readPair,
  SECTORS_PER_SIDE,
  SIDE_CONTENT_BYTES,
  SLOT_SIDE_BYTES,
  whichOf,
} from './sealed-pair.js';

const ENTRY_BYTES = 4;
const ENTRIES_PER_PAGE = SIDE_CONTENT_BYTES / ENTRY_BYTES;
export const PAGES_PER_CLUSTER = 8;

type Page = {
  /** By part of the file: 0 for none, otherwise the disk's cluster plus 1. */
  entries: Uint32Array;
  /** Number of the durable version. */
  sequence: number;
};

/** A page, encoded for writing. */
export type StoredPage = { index: number; block: Buffer; which: 0 | 1 };

export class ClusterMap {
  private readonly pages = new Map<number, Page>();
  private readonly dirty = new Set<number>();
  /** By group of eight pages, the cluster with their sides. */
  readonly directory = new Map<number, number>();

  private readonly seals: SectorSeals;

  /**
   * @param fileId seals the pages, so that one of an earlier file in the same cluster is not taken for this file's
   */
  constructor(fileId: string) {
    this.seals = new SectorSeals(fileId);
  }

  get(part: number): number | undefined {
    const entry = this.pages.get(Math.floor(part / ENTRIES_PER_PAGE))?.entries[part % ENTRIES_PER_PAGE];
    return entry === undefined || entry === 0 ? undefined : entry - 1;
  }

  /** Maps a part to a cluster. The directory must have an entry for it. */
  set(part: number, cluster: number): void {
    this.change(part, cluster + 1);
  }

  clear(part: number): void {
    this.change(part, 0);
  }

  /** Index of the directory entry that has to exist before the part can be set. */
  static directoryIndex(part: number): number {
    return Math.floor(part / ENTRIES_PER_PAGE / PAGES_PER_CLUSTER);
  }

  /** Mapped parts between `first` and `end`; skips missing pages as a whole. */
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

  /** The changed pages, encoded. They don't count as written before `wrote`. */
  takeDirty(): StoredPage[] {
    const taken = [...this.dirty].map((index) => this.encode(index));
    this.dirty.clear();
    return taken;
  }

  /** Marks the pages as durable. */
  wrote(pages: readonly StoredPage[]): void {
    for (const { index } of pages) {
      const page = this.pages.get(index);
      if (page !== undefined) page.sequence = next(page.sequence);
    }
  }

  /** Marks the pages as changed again: they may not be durable. */
  failed(pages: readonly StoredPage[]): void {
    for (const { index } of pages) this.dirty.add(index);
  }

  /**
   * Loads both sides of a page.
   *
   * @returns false if they are corrupt
   */
  load(index: number, sides: readonly [Buffer, Buffer]): boolean {
    const found = (which: 0 | 1) => ({ block: sides[which], firstSector: firstSector(index, which) });
    const pair = readPair(this.seals, [found(0), found(1)], false);
    if (pair.kind !== 'held') return false;
    // Copied, for alignment. Entries are in the processor's byte order: little-endian.
    const entries = new Uint32Array(Uint8Array.from(pair.content).buffer);
    this.pages.set(index, { entries, sequence: pair.sequence });
    return true;
  }

  /** Initial content of a directory's cluster: eight empty pages. Without it they would count as damaged. */
  emptyCluster(directoryIndex: number): Buffer {
    const pages = Array.from({ length: PAGES_PER_CLUSTER }, (_, at) => {
      const index = directoryIndex * PAGES_PER_CLUSTER + at;
      return emptyPair(this.seals, [firstSector(index, 0), firstSector(index, 1)]);
    });
    return Buffer.concat(pages);
  }

  private encode(index: number): StoredPage {
    const { entries, sequence: durable } = this.page(index);
    const sequence = next(durable);
    const which = whichOf(sequence);
    const content = new Uint8Array(entries.buffer);
    return { index, which, block: this.seals.seal(content, firstSector(index, which), sequence) };
  }

  private change(part: number, entry: number): void {
    const index = Math.floor(part / ENTRIES_PER_PAGE);
    this.page(index).entries[part % ENTRIES_PER_PAGE] = entry;
    this.dirty.add(index);
  }

  private page(index: number): Page {
    let page = this.pages.get(index);
    if (page === undefined) {
      page = { entries: new Uint32Array(ENTRIES_PER_PAGE), sequence: 1 };
      this.pages.set(index, page);
    }
    return page;
  }
}

/** Offset of a page's side within the directory's cluster. */
export function sideInCluster(index: number, which: 0 | 1): number {
  return ((index % PAGES_PER_CLUSTER) * 2 + which) * SLOT_SIDE_BYTES;
}

/** Sector number of a side, unique among all sides of a file's pages. */
function firstSector(index: number, which: 0 | 1): number {
  return (index * 2 + which) * SECTORS_PER_SIDE;
}
