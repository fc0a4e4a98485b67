/**
 * Activity detector: tells from the request count of a device whether users are at work, so that a rebuild can yield
 * to them.
 */

/** Minimum requests between two polls, a tenth of a second apart. With fewer, users would not notice the rebuild. */
const REQUESTS_MIN = 5;
/** How long users count as being at work after the last active poll: work comes in bursts. */
const LINGER_MS = 1_000;

export class UserActivity {
  private seen: number;
  private untilMs = Number.NEGATIVE_INFINITY;

  /** @param requests returns the number of requests so far */
  constructor(private readonly requests: () => number) {
    this.seen = requests();
  }

  look(nowMs: number): boolean {
    const now = this.requests();
    if (now - this.seen >= REQUESTS_MIN) this.untilMs = nowMs + LINGER_MS;
    this.seen = now;
    return nowMs < this.untilMs;
  }
}
