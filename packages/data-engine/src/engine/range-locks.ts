/**
 * Range locks: serialise writes to the same blocks in arrival order, so that all copies apply them in that order. A
 * barrier, such as a snapshot, locks the whole range.
 */
type Waiting = {
  start: number;
  end: number;
  /** Number of earlier, overlapping entries that have not ended. */
  blockers: number;
  blocked: Waiting[];
  go: () => void;
};

/** A requested lock. `waiting` is absent if nothing earlier overlaps: the usual case costs no promise. */
export type RangeLock = { readonly waiting: Promise<void> | undefined; readonly release: () => void };

const EVERYTHING = Number.POSITIVE_INFINITY;

export class RangeLocks {
  /** Entries in arrival order. Few: each connection bounds its requests in flight. */
  private readonly entries = new Set<Waiting>();

  get idle(): boolean {
    return this.entries.size === 0;
  }

  /** True if an entry holds, or waits for, a part of the range. */
  overlaps(start: number, end: number): boolean {
    for (const entry of this.entries) if (entry.start < end && start < entry.end) return true;
    return false;
  }

  /** Resolves when the changes in flight in the range have ended; `undefined` if there is none. */
  changed(start: number, end: number): Promise<void> | undefined {
    let blockers = 0;
    let waiting: Waiting | undefined;
    for (const entry of this.entries) {
      // Skips barriers: they change no bytes.
      if (entry.start >= end || start >= entry.end || entry.end === EVERYTHING) continue;
      waiting ??= { start, end, blockers: 0, blocked: [], go: () => undefined };
      entry.blocked.push(waiting);
      blockers += 1;
    }
    if (waiting === undefined) return undefined;
    const found = waiting;
    found.blockers = blockers;
    return new Promise((resolve) => {
      found.go = resolve;
    });
  }

  /** Locks the range until the caller calls `release`; `waiting` if an earlier entry has to end first. */
  take(start: number, end: number): RangeLock {
    const entry: Waiting = { start, end, blockers: 0, blocked: [], go: () => undefined };
    for (const earlier of this.entries) {
      if (earlier.start >= end || start >= earlier.end) continue;
      earlier.blocked.push(entry);
      entry.blockers += 1;
    }
    this.entries.add(entry);
    const release = () => this.release(entry);
    if (entry.blockers === 0) return { waiting: undefined, release };
    const waiting = new Promise<void>((resolve) => {
      entry.go = resolve;
    });
    return { waiting, release };
  }

  async withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T> {
    const { waiting, release } = this.take(start, end);
    if (waiting !== undefined) await waiting;
    try {
      return await work();
    } finally {
      release();
    }
  }

  /** Runs under a barrier: after everything earlier has ended, and before anything later begins. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.withRange(0, EVERYTHING, work);
  }

  private release(entry: Waiting): void {
    this.entries.delete(entry);
    for (const later of entry.blocked) {
      later.blockers -= 1;
      if (later.blockers === 0) later.go();
    }
  }
}
