/**
 * Keeps a read of a copy from seeing half of a write: whoever reads a block gets it as it was before a write or after it.
 *
 * The kernel promises that for neither way of reading: data is written past the page cache, in pieces, and may be read
 * through it. So a read waits for writes of its blocks that are under way, and is done again when one began meanwhile.
 * Users who write what they read at the same moment are rare: all else passes without waiting and without a promise.
 */
type Range = { readonly start: number; readonly end: number };
type Reading = Range & { isDisturbed: boolean };

/** A read that was disturbed so often holds further writes of its blocks up until it has ended. */
const DISTURBED_MAX = 3;

export class ReadWriteOverlap {
  private readonly writes = new Set<Range>();
  private readonly reads = new Set<Reading>();
  /** Reads that writes have to wait for. */
  private readonly patient = new Set<Reading>();
  private waiting: (() => void)[] = [];

  /** A promise where the write has to wait first; it asks again then. */
  mayWrite(start: number, end: number): Promise<void> | undefined {
    return this.patient.size > 0 && overlaps(this.patient, start, end) ? this.nextEnd() : undefined;
  }

  /** The write is under way until the caller ends it. */
  beginWrite(start: number, end: number): Range {
    const write = { start, end };
    this.writes.add(write);
    for (const read of this.reads) if (read.start < end && start < read.end) read.isDisturbed = true;
    return write;
  }

  endWrite(write: Range): void {
    this.writes.delete(write);
    this.wake();
  }

  /** True when no write of these blocks is under way: what is read at once then is whole. */
  isQuiet(start: number, end: number): boolean {
    return this.writes.size === 0 || !overlaps(this.writes, start, end);
  }

  /** @param discard takes back what a disturbed attempt has read */
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

function overlaps(ranges: ReadonlySet<Range>, start: number, end: number): boolean {
  for (const range of ranges) if (range.start < end && start < range.end) return true;
  return false;
}
