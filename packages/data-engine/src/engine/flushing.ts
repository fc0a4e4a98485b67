/**
 * Flush coalescing over all copies (group commit): flushes run one at a time, and requests that arrive while one runs
 * share the next (docs/design/write-path.md). Also bounds how much is unflushed.
 *
 * No flush begins before the changes have ended that were in flight when the previous one began. So a copy that sees
 * a flush begin knows that the previous one has ended on every copy, and which changes that made durable everywhere.
 */
import { CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { SharedFlush } from '../base/shared-flush.js';

/**
 * Bounds of unflushed changes, in stretches of 64 KiB and in time since the first one. Beyond either, the engine flushes the
 * copies without a user's request: after a crash, the next engine has to compare what the last few flushes covered
 * before it can answer a flush.
 */
const STRETCHES_MAX = 4096;
const UNFLUSHED_MAX_MS = 1_500;

/** The changes that began between two flushes. */
export type Batch = { underWay: number; ended: (() => void) | undefined };

export class Flushing {
  private current: Batch = { underWay: 0, ended: undefined };
  private previous: Batch = { underWay: 0, ended: undefined };
  /**
   * A failed flush says nothing of the next one: either a copy failed, and was dropped, or it reported its error to
   * its own caller.
   */
  private readonly queue = new SharedFlush(
    () => this.flush(),
    () => false,
  );
  private changed = new Set<number>();
  private changedSinceMs = Number.POSITIVE_INFINITY;

  constructor(private readonly flushCopies: () => Promise<void>) {}

  /** Registers a change whose order is already fixed. The caller gives the batch back when the change has ended. */
  begin(start: number, end: number, nowMs: number): Batch {
    if (this.changedSinceMs === Number.POSITIVE_INFINITY) this.changedSinceMs = nowMs;
    const last = Math.floor((end - 1) / CLUSTER_BYTES);
    for (
      let at = Math.floor(start / CLUSTER_BYTES);
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

  /** Flushes every change that has ended before the call. */
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
