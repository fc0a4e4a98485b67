/**
 * Simulated bytes of one file or device: as the medium has them now, as a power cut would leave them, and as the page
 * cache has them where it differs.
 *
 * A write is in flight until it has ended, then pending until a sync that began after its end has succeeded. A power
 * cut keeps or loses each pending write independently. A failed sync drops the writes that it covered, as Linux does:
 * the page cache still shows them.
 */
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';

const PAGE_BYTES = 4096;

type Pending = {
  readonly position: number;
  readonly bytes: Buffer;
  /** Unit at which a power cut may tear the write, if it has not ended. */
  readonly unitBytes: number;
  hasEnded: boolean;
  /** When the write ended; absent for freed space. */
  endedAtMs?: number;
};
type Pages = Map<number, Buffer>;

export class SimFile {
  private stored: Pages = new Map();
  private medium: Pages = new Map();
  /** Pages whose writeback has failed, as the page cache still shows them. */
  private ghosts: Pages = new Map();
  private pending: Pending[] = [];
  private storedBytes: number;
  /** Change counter, like a file's change time. */
  changes = 0;

  constructor(
    public sizeBytes: number,
    /** Preallocated: all of its space is taken, whatever was written. */
    readonly isReserved: boolean,
  ) {
    this.storedBytes = sizeBytes;
  }

  readMedium(buffer: Buffer, position: number): void {
    read(buffer, position, (page) => this.medium.get(page));
  }

  readCache(buffer: Buffer, position: number): void {
    read(buffer, position, (page) => this.ghosts.get(page) ?? this.medium.get(page));
  }

  /** True if a write there would have to allocate space. */
  needsSpace(position: number, lengthBytes: number): boolean {
    if (this.isReserved) return false;
    for (let page = Math.floor(position / PAGE_BYTES); page * PAGE_BYTES < position + lengthBytes; page += 1)
      if (!this.medium.has(page)) return true;
    return false;
  }

  /** Puts a write into the medium's cache; the caller reports its end. */
  write(position: number, bytes: Buffer, unitBytes = PAGE_BYTES): Pending {
    const write = { position, bytes: Buffer.from(bytes), unitBytes, hasEnded: false };
    this.pending.push(write);
    apply(this.medium, write);
    for (let page = Math.floor(position / PAGE_BYTES); page * PAGE_BYTES < position + bytes.length; page += 1)
      this.ghosts.delete(page);
    this.sizeBytes = Math.max(this.sizeBytes, position + bytes.length);
    this.changes += 1;
    return write;
  }

  /** True if bytes whose write had ended by that time are not durable. */
  owesSync(byMs: number): boolean {
    return this.pending.some(({ endedAtMs }) => endedAtMs !== undefined && endedAtMs <= byMs);
  }

  /**
   * Shows the first part of a write in flight: readers may see it, and a power cut does not keep it as such. @returns
   * a function that removes it
   */
  preview(position: number, bytes: Buffer): () => void {
    const before = Buffer.alloc(bytes.length);
    this.readMedium(before, position);
    apply(this.medium, { position, bytes });
    return () => apply(this.medium, { position, bytes: before });
  }

  /** Frees space: it reads as zeros, and a power cut may undo that. */
  punch(position: number, lengthBytes: number): Pending {
    const write = this.write(position, Buffer.alloc(lengthBytes));
    const last = Math.floor((position + lengthBytes) / PAGE_BYTES);
    for (let page = Math.ceil(position / PAGE_BYTES); page < last; page += 1) this.medium.delete(page);
    return write;
  }

  resize(sizeBytes: number): void {
    if (sizeBytes < this.sizeBytes) this.punch(sizeBytes, this.sizeBytes - sizeBytes).hasEnded = true;
    this.sizeBytes = sizeBytes;
    this.changes += 1;
  }

  /** Determines what a sync that begins now covers. */
  beginSync(): () => { succeed: () => void; fail: () => void } {
    const covered = new Set(this.pending.filter(({ hasEnded }) => hasEnded));
    const { sizeBytes } = this;
    return () => ({
      succeed: () => {
        for (const write of this.pending) if (covered.has(write)) apply(this.stored, write);
        this.pending = this.pending.filter((write) => !covered.has(write));
        this.storedBytes = sizeBytes;
      },
      fail: () => this.forget(covered),
    });
  }

  powerCut(random: SeededRandom, keepsSome: boolean): void {
    const kept = this.pending.filter(() => keepsSome && random.chance(2));
    const size = keepsSome && random.chance(2) ? this.sizeBytes : this.storedBytes;
    for (const write of kept) apply(this.stored, write.hasEnded ? write : torn(write, random));
    this.pending = [];
    this.ghosts = new Map();
    this.medium = copyOf(this.stored);
    this.sizeBytes = size;
    this.storedBytes = size;
  }

  /** A copy of the medium's current content, for restoring it later. */
  image(): SimFile {
    const image = new SimFile(this.sizeBytes, this.isReserved);
    image.stored = copyOf(this.medium);
    image.medium = copyOf(this.medium);
    image.changes = this.changes;
    return image;
  }

  private forget(covered: ReadonlySet<Pending>): void {
    const shown = new Map<number, Buffer>();
    for (const { position, bytes } of covered) {
      for (
        let page = Math.floor(position / PAGE_BYTES);
        page * PAGE_BYTES < position + bytes.length;
        page += 1
      ) {
        const now = this.medium.get(page);
        if (now !== undefined) shown.set(page, now);
      }
    }
    this.pending = this.pending.filter((write) => !covered.has(write));
    this.medium = copyOf(this.stored);
    for (const write of this.pending) apply(this.medium, write);
    for (const [page, bytes] of shown) this.ghosts.set(page, bytes);
  }
}

function copyOf(pages: Pages): Pages {
  // Safe to share: pages are replaced, never changed.
  return new Map(pages);
}

function torn(write: Pending, random: SeededRandom): Pending {
  const { unitBytes } = write;
  const units = Math.floor(write.bytes.length / unitBytes);
  return { ...write, bytes: write.bytes.subarray(0, random.below(units + 1) * unitBytes) };
}

function apply(pages: Pages, { position, bytes }: Pick<Pending, 'position' | 'bytes'>): void {
  for (let done = 0; done < bytes.length; ) {
    const index = Math.floor((position + done) / PAGE_BYTES);
    const from = (position + done) % PAGE_BYTES;
    const length = Math.min(PAGE_BYTES - from, bytes.length - done);
    const before = pages.get(index);
    const page = Buffer.alloc(PAGE_BYTES);
    if (before !== undefined && length < PAGE_BYTES) before.copy(page);
    bytes.copy(page, from, done, done + length);
    pages.set(index, page);
    done += length;
  }
}

function read(buffer: Buffer, position: number, pageAt: (index: number) => Buffer | undefined): void {
  // Most of a large read is holes.
  buffer.fill(0);
  for (let done = 0; done < buffer.length; ) {
    const index = Math.floor((position + done) / PAGE_BYTES);
    const from = (position + done) % PAGE_BYTES;
    const length = Math.min(PAGE_BYTES - from, buffer.length - done);
    const page = pageAt(index);
    page?.copy(buffer, done, from, from + length);
    done += length;
  }
}
