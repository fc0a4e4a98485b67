/**
 * Atomicity of concurrent reads and writes of a copy: a reader gets each block as it was before a write or after it.
 *
 * The kernel guarantees that for neither way of reading: data is written with direct I/O, in pieces, and may be read
 * through the page cache. So a read waits for writes in flight of its blocks, and is repeated if one began meanwhile.
 * Clients rarely write what they read at the same moment: everything else passes without waiting and without a
 * promise.
 */
export type BlockRange = { readonly start: number; readonly end: number };
type Reading = BlockRange & { isDisturbed: boolean };

/** A read that was repeated this often blocks further writes of its blocks until it has ended. */
const DISTURBED_MAX = 3;

export class ReadWriteOverlap {
  private readonly writes = new Set<BlockRange>();
  private readonly reads = new Set<Reading>();
  /** Reads that writes wait for. */
  private readonly patient = new Set<Reading>();
  private waiting: (() => void)[] = [];

  /** A promise if the write has to wait; the caller then asks again. */
  mayWrite(start: number, end: number): Promise<void> | undefined {
    return this.mustWait(start, end) ? this.nextEnd() : undefined;
  }

  /** True if a write of these blocks has to wait for a read. */
  mustWait(start: number, end: number): boolean {
    return this.patient.size > 0 && overlaps(this.patient, start, end);
  }

  /** Registers a write as in flight until the caller ends it. */
  beginWrite(start: number, end: number): BlockRange {
    const write = { start, end };
    this.writes.add(write);
    this.disturb(start, end);
    return write;
  }

  /** Notes a write that has begun and ended within one call: reads that threads work on may have seen a part of it. */
  disturb(start: number, end: number): void {
    for (const read of this.reads) if (read.start < end && start < read.end) read.isDisturbed = true;
  }

  endWrite(write: BlockRange): void {
    this.writes.delete(write);
    this.wake();
  }

  /** True if no write of these blocks is in flight: a synchronous read is then consistent. */
  isQuiet(start: number, end: number): boolean {
    return this.writes.size === 0 || !overlaps(this.writes, start, end);
  }

  /** @param discard releases the result of a repeated attempt */
  async read<T>(
    start: number,
    end: number,
    read: () => Promise<T>,
    discard: (result: T) => void,
  ): Promise<T> {
    for (let attempt = 0; ; attempt += 1) {
      const reading = { start, end, isDisturbed: false };
      if (attempt >= DISTURBED_MAX) this.patient.add(reading);
      try {
        while (!this.isQuiet(start, end)) await this.nextEnd();
        this.reads.add(reading);
        const result = await read();
        if (!reading.isDisturbed) return result;
        discard(result);
      } finally {
        this.reads.delete(reading);
        if (this.patient.delete(reading)) this.wake();
      }
    }
  }

  private nextEnd(): Promise<void> {
    return new Promise((resolve) => {
      this.waiting.push(resolve);
    });
  }

  private wake(): void {
    if (this.waiting.length === 0) return;
    const { waiting } = this;
    this.waiting = [];
    for (const go of waiting) go();
  }
}

function overlaps(ranges: ReadonlySet<BlockRange>, start: number, end: number): boolean {
  for (const range of ranges) if (range.start < end && start < range.end) return true;
  return false;
}
