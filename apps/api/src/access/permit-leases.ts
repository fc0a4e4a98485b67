/** Permits of one quota of requests in this process, and the lease that they come from. */

import {
  decideTake,
  type LeaseAnswer,
  type Permits,
  type QuotaStanding,
  standingOf,
  withLease,
  withLocalShare,
} from '@holdfast/access/request-permits.js';
import { withTimeout } from '@holdfast/control/reconcilers/timeouts.js';

/** How long a request waits for a lease. A row that is not locked answers in a few milliseconds. */
const LEASE_WAIT_MS = 500;
/** Retry interval of callers while the row does not answer and the local share is spent. */
const RETRY_MS = 1_000;

type Quota = { readonly limit: number; readonly windowMs: number };

/** Requests that need a lease at the same time wait for the same one. */
export class PermitLeases {
  private permits: Permits | undefined;
  private asked: Promise<boolean> | undefined;
  /** Number of permits of all undecided requests. */
  private needed = 0;
  /** No further local share before this. */
  private sharedUntilMs = 0;

  /** @param lease requests a lease from the row; `undefined` when it does not answer */
  constructor(
    readonly quota: Quota,
    private readonly lease: (size: number) => Promise<LeaseAnswer | undefined>,
  ) {}

  /** Takes permits. Returns `undefined`, or the milliseconds to wait if there are too few. */
  async take(count: number): Promise<number | undefined> {
    this.needed += count;
    try {
      // Terminates: a lease covers all requests that wait for it, or the quota is spent, and a local share is given once.
      for (;;) {
        const decision = decideTake(this.permits, {
          count,
          limit: this.quota.limit,
          nowMs: performance.now(),
        });
        if (decision.kind === 'refuse') return decision.retryAfterMs;
        if (decision.kind === 'take') {
          this.permits = decision.permits;
          return undefined;
        }
        this.asked ??= this.ask(Math.max(decision.nextLease, this.needed));
        const isAnswered = await withTimeout(LEASE_WAIT_MS, this.asked);
        if (isAnswered !== true && !this.hasLocally(count)) return RETRY_MS;
      }
    } finally {
      this.needed -= count;
    }
  }

  /** `undefined` before the first request of a window. */
  standing(): QuotaStanding | undefined {
    const permits = this.held();
    return permits === undefined ? undefined : standingOf(permits, this.quota.limit, performance.now());
  }

  /** Never throws: after an error each waiting request does without the lease. */
  private async ask(size: number): Promise<boolean> {
    const answer = await this.lease(size);
    this.asked = undefined;
    if (answer !== undefined) this.permits = withLease(this.held(), this.quota.limit, answer);
    return answer !== undefined;
  }

  /** Takes the local share, if not done in this window, and returns whether it suffices. */
  private hasLocally(count: number): boolean {
    const nowMs = performance.now();
    if (this.sharedUntilMs <= nowMs) {
      this.sharedUntilMs = nowMs + this.quota.windowMs;
      this.permits = withLocalShare(this.held(), this.quota.limit, this.sharedUntilMs);
    }
    return (this.held()?.left ?? 0) >= count;
  }

  private held(): Permits | undefined {
    const isOver = this.permits === undefined || this.permits.endsAtMs <= performance.now();
    return isOver ? undefined : this.permits;
  }
}
