/**
 * On-disk file of a layer's map: its pages in sealed sectors, and before each group of pages a page of marks that
 * tells which of them were ever stored. So a page that rotted or vanished is detected, and not read as blocks that
 * the layer does not hold. Marks are written when the file is made, so zeros in their place are damage too.
 *
 * Pages are updated in place. A crash in the middle leaves some sectors as they were, which is harmless: each old bit
 * was true, and acknowledged data is synced. A page is marked after it is durable, and the mark is durable before what the
 * page describes is acknowledged.
 */
import { BLOCK_BYTES, MIB, SECTOR_BYTES } from '@holdfast/core/model/bytes.js';
import type { CopyFile, CopyFiles } from '../disk/disk-store.js';
import { contentOf, SectorSeals } from '../disk/sealed-sectors.js';
import { corrupt } from '../protocol/replica-faults.js';
import { type BlockMap, type MapPage, PAGE_BYTES } from './block-map.js';

/** Bytes of a page on the disk. */
const STORED_BYTES = BLOCK_BYTES;
const SECTORS = STORED_BYTES / SECTOR_BYTES;
/** As many pages as a page has bits: those of 3.9 TiB of a layer. */
const PAGES_PER_GROUP = PAGE_BYTES * 8;
const SEQUENCE = 1;
/** Pages sealed at a time: 256 KiB, whatever the size of the map. */
const RUN_MAX = 64;
const NOTHING = Buffer.alloc(STORED_BYTES);

export class MapFile {
  private readonly seals: SectorSeals;
  /** Marks by group: one bit for each of its pages. */
  private readonly marks = new Map<number, Uint8Array>();

  private constructor(private readonly file: CopyFile) {
    this.seals = new SectorSeals(file.name);
  }

  static async create(files: CopyFiles, name: string, pageCount: number): Promise<MapFile> {
    const mapFile = new MapFile(await files.createFile(name, mapFileBytes(pageCount), { kind: 'map' }));
    try {
      await mapFile.beginGroups(pageCount);
      return mapFile;
    } catch (error) {
      await mapFile.close();
      throw error;
    }
  }

  /**
   * Loads the map from an open file of the expected length.
   *
   * @param isOld the file may have blank marks, as copies of format 3 have: it gets them now
   * @throws StorageFault `replica.corrupt`
   */
  static async load(file: CopyFile, map: BlockMap, isOld: boolean): Promise<MapFile> {
    const mapFile = new MapFile(file);
    await mapFile.loadPages(map, isOld);
    return mapFile;
  }

  /** Stores the pages, given in order; they are durable when it resolves. */
  async store(pages: readonly MapPage[]): Promise<void> {
    for (const run of runsOf(pages)) await this.storeRun(run);
    await this.file.syncData();
    const isNew = await this.mark(pages.map(({ index }) => index));
    if (isNew) await this.file.syncData();
  }

  /** The caller syncs it before the metadata names the new length. */
  async grow(pageCount: number): Promise<void> {
    await this.file.resize(mapFileBytes(pageCount));
    await this.beginGroups(pageCount);
  }

  /** Writes the marks of groups that have none yet: nothing of them is stored. */
  private async beginGroups(pageCount: number): Promise<void> {
    for (let group = 0; group < groupsOf(pageCount); group += 1) {
      if (!this.marks.has(group)) await this.writeMarks(group, new Uint8Array(PAGE_BYTES));
    }
  }

  syncData(): Promise<void> {
    return this.file.syncData();
  }

  changeTime(): Promise<string> {
    return this.file.changeTime();
  }

  close(): Promise<void> {
    return this.file.close();
  }

  private async loadPages(map: BlockMap, isOld: boolean): Promise<void> {
    const batch = Buffer.alloc(Math.min(MIB, mapFileBytes(map.pageCount)));
    const unmarked: MapPage[] = [];
    const totalBytes = mapFileBytes(map.pageCount);
    for (let at = 0; at < totalBytes; at += batch.length) {
      const part = batch.subarray(0, Math.min(batch.length, totalBytes - at));
      await this.file.readStored(part, at);
      for (let offset = 0; offset < part.length; offset += STORED_BYTES) {
        const position = (at + offset) / STORED_BYTES;
        const bytes = this.open(part.subarray(offset, offset + STORED_BYTES), position, isOld);
        if (bytes === undefined) continue;
        const index = pageAt(position);
        if (index === undefined) this.marks.set(groupAt(position), bytes);
        else {
          map.loadPage(index, bytes);
          if (!this.isMarked(index)) unmarked.push({ index, bytes });
        }
      }
    }
    if (isOld) {
      await this.beginGroups(map.pageCount);
      await this.file.syncData();
    }
    if (unmarked.length === 0) return;
    // An earlier process was interrupted before their mark was there: they may be in the page cache only, or torn. What a marked page
    // lacks is damage, so they are stored whole first.
    await this.store(unmarked);
  }

  /** @returns `undefined` if the page was never stored */
  private open(stored: Buffer, position: number, isOld: boolean): Uint8Array | undefined {
    const index = pageAt(position);
    const mayBeBlank = index === undefined ? isOld : !this.isMarked(index);
    if (mayBeBlank && stored.equals(NOTHING)) return undefined;
    const isBad = this.seals
      .statesOf(stored, position * SECTORS)
      .some((state) => state === 'damaged' || (state === 'blank' && !mayBeBlank));
    if (isBad) throw corrupt(`page ${position} of ${this.file.name} is not what was written there`);
    const bytes = new Uint8Array(PAGE_BYTES);
    contentOf(stored, bytes);
    return bytes;
  }

  private isMarked(index: number): boolean {
    const bit = index % PAGES_PER_GROUP;
    const marks = this.marks.get(Math.floor(index / PAGES_PER_GROUP));
    return marks !== undefined && ((marks[bit >>> 3] ?? 0) & (1 << (bit & 7))) !== 0;
  }

  /** @returns whether a mark was missing, and is written now */
  private async mark(pages: readonly number[]): Promise<boolean> {
    const missing = pages.filter((index) => !this.isMarked(index));
    const changed = new Map<number, Uint8Array>();
    for (const index of missing) {
      const group = Math.floor(index / PAGES_PER_GROUP);
      const bit = index % PAGES_PER_GROUP;
      const marks =
        changed.get(group) ?? Uint8Array.from(this.marks.get(group) ?? new Uint8Array(PAGE_BYTES));
      marks[bit >>> 3] = (marks[bit >>> 3] ?? 0) | (1 << (bit & 7));
      changed.set(group, marks);
    }
    for (const [group, marks] of changed) await this.writeMarks(group, marks);
    return missing.length > 0;
  }

  /** Memory last: marks that could not be written are written with the next page. */
  private async writeMarks(group: number, marks: Uint8Array): Promise<void> {
    const position = group * (PAGES_PER_GROUP + 1);
    await this.file.write([this.seals.seal(marks, position * SECTORS, SEQUENCE)], position * STORED_BYTES);
    this.marks.set(group, marks);
  }

  private async storeRun(run: readonly MapPage[]): Promise<void> {
    const first = positionOf(run[0]?.index ?? 0);
    const sealed = run.map(({ index, bytes }) =>
      this.seals.seal(bytes, positionOf(index) * SECTORS, SEQUENCE),
    );
    await this.file.write(sealed, first * STORED_BYTES);
  }
}

/** Splits pages into runs that are adjacent in the file, so that each run is one write. */
function* runsOf(pages: readonly MapPage[]): Generator<MapPage[]> {
  let run: MapPage[] = [];
  for (const page of pages) {
    const last = run.at(-1);
    const goesOn = last !== undefined && positionOf(last.index) + 1 === positionOf(page.index);
    if (last !== undefined && (!goesOn || run.length === RUN_MAX)) {
      yield run;
      run = [];
    }
    run.push(page);
  }
  if (run.length > 0) yield run;
}

/** Length of the file in bytes, for a map of the given number of pages. */
export function mapFileBytes(pageCount: number): number {
  return (pageCount + groupsOf(pageCount)) * STORED_BYTES;
}

function groupsOf(pageCount: number): number {
  return Math.ceil(pageCount / PAGES_PER_GROUP);
}

/** Position of a page in the file, counted in pages. */
function positionOf(index: number): number {
  return index + Math.floor(index / PAGES_PER_GROUP) + 1;
}

/** The page at a position; `undefined` for a group's marks. */
function pageAt(position: number): number | undefined {
  const inGroup = position % (PAGES_PER_GROUP + 1);
  return inGroup === 0 ? undefined : groupAt(position) * PAGES_PER_GROUP + inGroup - 1;
}

function groupAt(position: number): number {
  return Math.floor(position / (PAGES_PER_GROUP + 1));
}
