/** Tells from the count of a device's requests whether users are at work, so that a rebuild can leave them room. */

/** Fewer requests than this between two looks, a tenth of a second apart, would not notice the rebuild. */
const REQUESTS_MIN = 5;
/** How long they count as being at work after the last such look: work comes in bursts. */
const LINGER_MS = 1_000;

export class UserActivity {
  private seen: number;
  private untilMs = Number.NEGATIVE_INFINITY;

  /** @param requests how many there have been so far */
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
