/**
 * Range locks: serialise writes to the same blocks in arrival order, so that all copies apply them in that order. A
 * barrier, such as a snapshot, locks the whole range.
 */
type Waiting = {
  start: number;
  end: number;
  /** Number of earlier, overlapping entries that have not ended. */
  blockers: number;
  /** Later entries that wait for this one; absent while there are none. */
  blocked: Waiting[] | undefined;
  go: () => void;
  /** Ends when nothing earlier overlaps any more; absent if nothing did, so that the usual case costs no promise. */
  waiting: Promise<void> | undefined;
};

/** A requested lock. */
export type RangeLock = Readonly<Pick<Waiting, 'start' | 'end' | 'waiting'>>;

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
      waiting ??= entryOf(start, end);
      block(entry, waiting);
      blockers += 1;
    }
    if (waiting === undefined) return undefined;
    const found = waiting;
    found.blockers = blockers;
    return new Promise((resolve) => {
      found.go = resolve;
    });
  }

  /** Locks the range until the caller gives the lock back; `waiting` if an earlier entry has to end first. */
  take(start: number, end: number): RangeLock {
    const entry = entryOf(start, end);
    for (const earlier of this.entries) {
      if (earlier.start >= end || start >= earlier.end) continue;
      block(earlier, entry);
      entry.blockers += 1;
    }
    this.entries.add(entry);
    if (entry.blockers > 0) {
      entry.waiting = new Promise<void>((resolve) => {
        entry.go = resolve;
      });
    }
    return entry;
  }

  async withRange<T>(start: number, end: number, work: () => Promise<T>): Promise<T> {
    const lock = this.take(start, end);
    if (lock.waiting !== undefined) await lock.waiting;
    try {
      return await work();
    } finally {
      this.release(lock);
    }
  }

  /** Runs under a barrier: after everything earlier has ended, and before anything later begins. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.withRange(0, EVERYTHING, work);
  }

  release(lock: RangeLock): void {
    // The cast: the locks that callers hold are entries.
    const entry = lock as Waiting;
    this.entries.delete(entry);
    for (const later of entry.blocked ?? []) {
      later.blockers -= 1;
      if (later.blockers === 0) later.go();
    }
  }
}

function entryOf(start: number, end: number): Waiting {
  return { start, end, blockers: 0, blocked: undefined, go: nothing, waiting: undefined };
}

function block(earlier: Waiting, later: Waiting): void {
  earlier.blocked ??= [];
  earlier.blocked.push(later);
}

function nothing(): void {
  // For an entry without a promise.
}
