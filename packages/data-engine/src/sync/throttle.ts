/**
 * Holds a rebuild's data back: to so many bytes a second, to half of the time while users are at work, or altogether
 * while it is paused. All may change while somebody waits.
 */
import type { PullTuning } from '../replica/commands.js';
import { SYSTEM_TIME, type Time } from '../time.js';

/** What may go at once after a quiet time; longer bursts would make a limit felt only on average. */
const BURST_MS = 100;
/** A piece of work that hung for long must not be followed by as long a rest. */
const REST_MAX_MS = 1_000;

export class Throttle {
  private tuning: PullTuning;
  /** When the next byte may go, on the clock of `time`. */
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

  /** While users are at work: rests as long as the work that began then has taken. They get the other half. */
  async rest(sinceMs: number): Promise<void> {
    if (this.yields) await this.wait(Math.min(this.time.nowMs() - sinceMs, REST_MAX_MS));
  }

  tune(tuning: PullTuning): void {
    this.tuning = tuning;
    // What was promised under the old limit is no debt under the new one.
    this.freeAtMs = Math.min(this.freeAtMs, this.time.nowMs());
    this.rouse();
  }

  /** Whoever waits looks again: the limit, or whether there is still anything to wait for, has changed. */
  rouse(): void {
    const { wake } = this;
    this.changed = this.nextChange();
    wake();
  }

  /** Resolves when so many bytes may go. `goOn` is asked after each wait; it throws to end the waiting. */
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
