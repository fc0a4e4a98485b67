/**
 * Simulated bytes of one file or device: as the kernel shows them now, as a power cut would leave them, and as the page
 * cache shows them where its pages could not be written.
 *
 * A write is in flight until it has ended, then pending until a sync that began after its end has succeeded. A power
 * cut keeps any part of the pending writes. Pages that the kernel fails to write are dropped and count as clean, as on Linux: each opening of the
 * file is told of it by one sync, the next sync succeeds without them, and meanwhile the page cache goes on showing them.
 */
import type { SeededRandom } from '@holdfast/testkit/seeded-random.js';

export const PAGE_BYTES = 4096;
export const SECTOR_BYTES = 512;

type Pending = {
  readonly position: number;
  readonly bytes: Buffer;
  /** Unit at which a power cut may tear the write. */
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
  /** How often pages were dropped, and whether a sync has told that of the last time: else the next opening is told. */
  private losses = 0;
  private isLossTold = true;
  /** Below this offset the file has its space, whatever was written. */
  private reservedBytes = 0;

  constructor(
    public sizeBytes: number,
    isReserved = false,
  ) {
    this.storedBytes = sizeBytes;
    if (isReserved) this.reservedBytes = sizeBytes;
  }

  readMedium(buffer: Buffer, position: number): void {
    read(buffer, position, (page) => this.medium.get(page));
  }

  readCache(buffer: Buffer, position: number): void {
    read(buffer, position, (page) => this.ghosts.get(page) ?? this.medium.get(page));
  }

  /** Pages of the range that have no space yet, in order. */
  *pagesWithoutSpace(position: number, lengthBytes: number): Generator<number> {
    for (const page of pagesOf(position, lengthBytes))
      if (page * PAGE_BYTES >= this.reservedBytes && !this.medium.has(page)) yield page;
  }

  get allocatedBytes(): number {
    return this.medium.size * PAGE_BYTES;
  }

  reserve(endBytes: number): void {
    this.reservedBytes = Math.max(this.reservedBytes, endBytes);
    this.changes += 1;
  }

  /** Puts a write into the kernel's view; the caller reports its end. */
  write(position: number, bytes: Buffer, unitBytes = PAGE_BYTES): Pending {
    const write = { position, bytes: Buffer.from(bytes), unitBytes, hasEnded: false };
    this.pending.push(write);
    apply(this.medium, write);
    for (const page of pagesOf(position, bytes.length)) this.ghosts.delete(page);
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
    const { losses } = this;
    this.readMedium(before, position);
    apply(this.medium, { position, bytes });
    return () => {
      // Pages that were dropped meanwhile took it with them.
      if (this.losses === losses) apply(this.medium, { position, bytes: before });
    };
  }

  /** Frees space: it reads as zeros, and a power cut may undo that. */
  punch(position: number, lengthBytes: number): Pending {
    const write = this.write(position, Buffer.alloc(lengthBytes));
    const last = Math.floor((position + lengthBytes) / PAGE_BYTES);
    for (let page = Math.ceil(position / PAGE_BYTES); page < last; page += 1) this.medium.delete(page);
    return write;
  }

  resize(sizeBytes: number): void {
    if (sizeBytes < this.sizeBytes) {
      this.punch(sizeBytes, this.sizeBytes - sizeBytes).hasEnded = true;
      this.reservedBytes = Math.min(this.reservedBytes, sizeBytes);
    }
    this.sizeBytes = sizeBytes;
    this.changes += 1;
  }

  /** What a new opening of the file has been told of. */
  toldAtOpening(): number {
    return this.isLossTold ? this.losses : this.losses - 1;
  }

  /** True once for each opening that has not been told of the last loss. */
  tellLoss(opening: { told: number }): boolean {
    if (opening.told === this.losses) return false;
    opening.told = this.losses;
    this.isLossTold = true;
    return true;
  }

  /** Determines what a sync that begins now covers. */
  beginSync(): () => { succeed: () => void; fail: (random: SeededRandom) => void } {
    const covered = new Set(this.pending.filter(({ hasEnded }) => hasEnded));
    const { sizeBytes } = this;
    return () => ({
      succeed: () => {
        for (const write of this.pending) if (covered.has(write)) apply(this.stored, write);
        this.pending = this.pending.filter((write) => !covered.has(write));
        this.storedBytes = sizeBytes;
      },
      fail: (random) => this.drop(covered, random),
    });
  }

  /** The kernel writes pages of its own accord, and fails. @returns false if it had none to write */
  failWriteback(random: SeededRandom): boolean {
    const covered = new Set(this.pending.filter(({ hasEnded }) => hasEnded));
    if (covered.size === 0) return false;
    this.drop(covered, random);
    return true;
  }

  /** Drops pages that count as clean: where writing them has failed, the disk's content shows. */
  forgetCached(): void {
    this.ghosts = new Map();
  }

  /** Bytes that the disk has lost: they read as zeros from now on, as if they had never been written. */
  rot(position: number, lengthBytes: number): void {
    for (const pages of [this.stored, this.medium, this.ghosts])
      for (const page of pagesOf(position, lengthBytes)) pages.delete(page);
    this.changes += 1;
  }

  powerCut(random: SeededRandom, keepsSome: boolean): void {
    const kept = this.pending.filter(() => keepsSome && random.chance(2));
    const size = keepsSome && random.chance(2) ? this.sizeBytes : this.storedBytes;
    for (const write of kept) for (const part of partsKept(write, random)) apply(this.stored, part);
    this.pending = [];
    this.ghosts = new Map();
    this.medium = copyOf(this.stored);
    this.sizeBytes = size;
    this.storedBytes = size;
    this.losses = 0;
    this.isLossTold = true;
  }

  /** A copy of the medium's current content, for restoring it later. */
  image(): SimFile {
    const image = new SimFile(this.sizeBytes);
    image.reservedBytes = this.reservedBytes;
    image.stored = copyOf(this.medium);
    image.medium = copyOf(this.medium);
    image.changes = this.changes;
    return image;
  }

  /** Some of the writes have reached the disk nevertheless, in any number. */
  private drop(tried: ReadonlySet<Pending>, random: SeededRandom): void {
    const covered = new Set([...tried].filter(() => !random.chance(2)));
    for (const write of this.pending) if (tried.has(write) && !covered.has(write)) apply(this.stored, write);
    const shown = new Map<number, Buffer>();
    for (const { position, bytes } of covered) {
      for (const page of pagesOf(position, bytes.length)) {
        const now = this.medium.get(page);
        if (now !== undefined) shown.set(page, now);
      }
    }
    this.pending = this.pending.filter((write) => !tried.has(write));
    this.medium = copyOf(this.stored);
    for (const write of this.pending) apply(this.medium, write);
    for (const [page, bytes] of shown) this.ghosts.set(page, bytes);
    this.losses += 1;
    this.isLossTold = false;
  }
}

function copyOf(pages: Pages): Pages {
  // Safe to share: pages are replaced, never changed.
  return new Map(pages);
}

function* pagesOf(position: number, lengthBytes: number): Generator<number> {
  for (let page = Math.floor(position / PAGE_BYTES); page * PAGE_BYTES < position + lengthBytes; page += 1)
    yield page;
}

/** What a power cut keeps of a write: most often all, else its first part, or any of its units. */
function partsKept(write: Pending, random: SeededRandom): Pick<Pending, 'position' | 'bytes'>[] {
  const { unitBytes, position, bytes } = write;
  const units = Math.floor(bytes.length / unitBytes);
  const isTorn = !write.hasEnded || random.chance(3);
  if (!isTorn) return [write];
  if (units > UNITS_MAX || random.chance(2))
    return [{ position, bytes: bytes.subarray(0, random.below(units + 1) * unitBytes) }];
  return Array.from({ length: units }, (_, unit) => unit * unitBytes)
    .filter(() => random.chance(2))
    .map((at) => ({ position: position + at, bytes: bytes.subarray(at, at + unitBytes) }));
}

/** Of longer writes the first part is kept: to draw for each unit of them would take most of a run's time. */
const UNITS_MAX = 64;

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
