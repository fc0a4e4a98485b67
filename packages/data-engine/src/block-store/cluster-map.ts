/**
 * Which cluster of the disk holds each part of a file, in pages of 63 MiB that exist where anything was written.
 *
 * A page has two places on the disk, and changes go to the one that does not hold, so that a page that was written in
 * part leaves the one before. Places come eight pages at a time, in a cluster that the file's directory names.
 */
import { SectorSeals } from '../replica/sealed-sectors.js';
import {
  emptyPair,
  next,
  PLACE_BYTES,
  PLACE_CONTENT_BYTES,
  readPair,
  SECTORS_PER_PLACE,
  whichOf,
} from './sealed-pair.js';

const ENTRY_BYTES = 4;
const ENTRIES_PER_PAGE = PLACE_CONTENT_BYTES / ENTRY_BYTES;
export const PAGES_PER_CLUSTER = 8;

type Page = {
  /** By cluster of the file: 0 for none, else the disk's cluster and 1. */
  entries: Uint32Array;
  /** Of the one that is durable. */
  sequence: number;
};

/** A page as it is to be written. */
export type StoredPage = { index: number; block: Buffer; which: 0 | 1 };

export class ClusterMap {
  private readonly pages = new Map<number, Page>();
  private readonly dirty = new Set<number>();
  /** Clusters with the places of eight pages each. */
  readonly directory = new Map<number, number>();

  private readonly seals: SectorSeals;

  /** @param fileId so that a page of a file that had the same cluster before is not taken for ours */
  constructor(fileId: string) {
    this.seals = new SectorSeals(fileId);
  }

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
      if (page !== undefined) page.sequence = next(page.sequence);
    }
  }

  /** They may not be. */
  failed(pages: readonly StoredPage[]): void {
    for (const { index } of pages) this.dirty.add(index);
  }

  /**
   * Takes both places of a page as they were found.
   *
   * @returns false when they are not what was written there
   */
  load(index: number, places: readonly [Buffer, Buffer]): boolean {
    const found = (which: 0 | 1) => ({ block: places[which], firstSector: firstSector(index, which) });
    const pair = readPair(this.seals, [found(0), found(1)], false);
    if (pair.kind !== 'held') return false;
    // A new piece of memory, which begins where numbers may. They are as the processor has them: little-endian.
    const entries = new Uint32Array(Uint8Array.from(pair.content).buffer);
    this.pages.set(index, { entries, sequence: pair.sequence });
    return true;
  }

  /** What a new cluster of the directory holds: eight pages, all empty. Its pages are damaged without it. */
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

/** Where a page's place is within the cluster that the directory names. */
export function placeInCluster(index: number, which: 0 | 1): number {
  return ((index % PAGES_PER_CLUSTER) * 2 + which) * PLACE_BYTES;
}

/** Sectors are numbered through all places of all pages of a file. */
function firstSector(index: number, which: 0 | 1): number {
  return (index * 2 + which) * SECTORS_PER_PLACE;
}
