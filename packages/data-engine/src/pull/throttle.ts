/**
 * Throttle of a rebuild's data: a bandwidth limit in bytes per second, half of the time while users are at work, and
 * pausing. All may change while a caller waits.
 */

import { SYSTEM_TIME, type Time } from '../base/time.js';
import type { PullTuning } from '../protocol/pull.js';

/** Largest burst after an idle time, in milliseconds; longer ones would keep a limit only on average. */
const BURST_MS = 100;
/** Maximum rest: work that hung for long must not be followed by an equally long rest. */
const REST_MAX_MS = 1_000;

export class Throttle {
  private tuning: PullTuning;
  /** Earliest time of the next byte, on the clock of `time`. */
  private freeAtMs = 0;
  private wake: () => void = () => undefined;
  private changed: Promise<void> = this.nextChange();

  constructor(
    tuning: PullTuning,
    private readonly time: Time = SYSTEM_TIME,
  ) {
    this.tuning = tuning;
  }

  get isPaused(): boolean {
    return this.tuning.paused;
  }

  get yields(): boolean {
    return this.tuning.yields === true;
  }

  nowMs(): number {
    return this.time.nowMs();
  }

  /**
   * While users are at work, rests as long as the work that began at `sinceMs` has taken: they get the other half.
   */
  async rest(sinceMs: number): Promise<void> {
    if (this.yields) await this.wait(Math.min(this.time.nowMs() - sinceMs, REST_MAX_MS));
  }

  tune(tuning: PullTuning): void {
    this.tuning = tuning;
    // A wait computed under the old limit does not carry over to the new one.
    this.freeAtMs = Math.min(this.freeAtMs, this.time.nowMs());
    this.rouse();
  }

  /** Wakes all waiting callers: the limit, or the reason for waiting, has changed. */
  rouse(): void {
    const { wake } = this;
    this.changed = this.nextChange();
    wake();
  }

  /** Resolves when that many bytes may be sent. Calls `goOn` after each wait; it throws to end the waiting. */
  async take(lengthBytes: number, goOn: () => void): Promise<void> {
    for (;;) {
      goOn();
      const { paused, bandwidthBytesPerSecond } = this.tuning;
      if (!paused && bandwidthBytesPerSecond === null) return;
      const nowMs = this.time.nowMs();
      if (!paused && bandwidthBytesPerSecond !== null && this.freeAtMs <= nowMs) {
        const startMs = Math.max(this.freeAtMs, nowMs - BURST_MS);
        this.freeAtMs = startMs + (lengthBytes / bandwidthBytesPerSecond) * 1000;
        return;
      }
      await this.wait(paused ? undefined : this.freeAtMs - nowMs);
    }
  }

  private async wait(ms: number | undefined): Promise<void> {
    const { changed } = this;
    if (ms === undefined) return changed;
    let wakeNoMore: () => void = () => undefined;
    const slept = new Promise<void>((resolve) => {
      wakeNoMore = this.time.after(Math.ceil(ms), resolve);
    });
    await Promise.race([changed, slept]);
    wakeNoMore();
  }

  private nextChange(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }
}
