/**
 * Flushes all copies, one flush after the other, and keeps what is not flushed small (docs/adr/0139).
 *
 * Flushes that are asked for while one runs share the next one; and none begins before the changes have ended that were
 * under way when the one before it began. So a copy that sees a flush come knows that the one before has ended on every
 * copy, and which of its changes that has made durable everywhere.
 */
import { STRETCH_BYTES } from '../replica/recent-changes.js';
import { SharedFlush } from '../replica/shared-flush.js';

/**
 * After changes of so many stretches, or so long after the first of them, the copies are flushed though no user asked: who
 * takes over after a crash has to compare what the last few flushes were about, before it can answer a flush.
 */
const STRETCHES_MAX = 4096;
const UNFLUSHED_MAX_MS = 1_500;

/** Changes that began between two flushes. */
type Batch = { underWay: number; ended: (() => void) | undefined };

export class Flushing {
  private current: Batch = { underWay: 0, ended: undefined };
  private previous: Batch = { underWay: 0, ended: undefined };
  /** One that failed says nothing of the next: what failed was a copy, which was dropped, or told its own error. */
  private readonly queue = new SharedFlush(
    () => this.flush(),
    () => false,
  );
  private changed = new Set<number>();
  private changedSinceMs = Number.POSITIVE_INFINITY;

  constructor(private readonly flushCopies: () => Promise<void>) {}

  /** A change begins: it has its place in the order already. Whoever calls this gives the batch back when it has ended. */
  begin(start: number, end: number, nowMs: number): Batch {
    if (this.changedSinceMs === Number.POSITIVE_INFINITY) this.changedSinceMs = nowMs;
    const last = Math.floor((end - 1) / STRETCH_BYTES);
    for (
      let at = Math.floor(start / STRETCH_BYTES);
      at <= last && this.changed.size < STRETCHES_MAX;
      at += 1
    ) {
      this.changed.add(at);
    }
    this.current.underWay += 1;
    return this.current;
  }

  end(batch: Batch): void {
    batch.underWay -= 1;
    if (batch.underWay === 0) batch.ended?.();
  }

  isDue(nowMs: number): boolean {
    return this.changed.size >= STRETCHES_MAX || nowMs - this.changedSinceMs >= UNFLUSHED_MAX_MS;
  }

  /** Covers every change that has ended before. */
  run(): Promise<void> {
    return this.queue.run();
  }

  private async flush(): Promise<void> {
    const { previous } = this;
    if (previous.underWay > 0) {
      await new Promise<void>((resolve) => {
        previous.ended = resolve;
      });
    }
    this.previous = this.current;
    this.current = { underWay: 0, ended: undefined };
    this.changed = new Set();
    this.changedSinceMs = Number.POSITIVE_INFINITY;
    await this.flushCopies();
  }
}
