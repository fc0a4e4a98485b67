/**
 * Permits of a quota of requests, as one api process holds them. The quota's window is one row that all processes share. A process
 * takes permits from it in leases, so that most requests are answered without asking the database, and all processes together
 * never give out more than the quota.
 *
 * What one process holds and does not use, others can't have until the window ends. So a lease is small at first and doubles up to a
 * tenth of the quota: a process that answers few requests holds few permits.
 */

/** A first lease is this part of the quota, and no lease is a larger part than the largest. */
const FIRST_PART = 100;
const LARGEST_PART = 10;

/** What a process holds of one window. */
export type Permits = {
  readonly left: number;
  /** Size of the next lease, unless more is needed at once. */
  readonly nextLease: number;
  /** When the window ends, by this process's clock. */
  readonly endsAtMs: number;
  /** True once the row had less than was asked for. */
  readonly isSpent: boolean;
  /** What the row had left after this process's last lease. Others may have taken of it since. */
  readonly unleased: number;
};

export type TakeDecision =
  | { readonly kind: 'take'; readonly permits: Permits }
  | { readonly kind: 'lease'; readonly nextLease: number }
  | { readonly kind: 'refuse'; readonly retryAfterMs: number };

/** Has the process permits for so many requests, or has it to ask for a lease first? */
export function decideTake(
  permits: Permits | undefined,
  { count, limit, nowMs }: { count: number; limit: number; nowMs: number },
): TakeDecision {
  if (permits === undefined || permits.endsAtMs <= nowMs)
    return { kind: 'lease', nextLease: firstLease(limit) };
  if (permits.left >= count) return { kind: 'take', permits: { ...permits, left: permits.left - count } };
  if (permits.isSpent) return { kind: 'refuse', retryAfterMs: permits.endsAtMs - nowMs };
  return { kind: 'lease', nextLease: permits.nextLease };
}

/** What the row says to a lease: `takenInAll` by all processes in this window, this lease included. */
export type LeaseAnswer = { readonly size: number; readonly takenInAll: number; readonly endsAtMs: number };

/**
 * Adds a lease to what is held. One that passes the limit is worth only what was left before it.
 *
 * @param held of the same window; what is left of an earlier one is worth nothing
 */
export function withLease(held: Permits | undefined, limit: number, answer: LeaseAnswer): Permits {
  const { size, takenInAll, endsAtMs } = answer;
  const granted = Math.max(0, Math.min(size, limit - (takenInAll - size)));
  return {
    left: (held?.left ?? 0) + granted,
    nextLease: Math.min(size * 2, largestLease(limit)),
    endsAtMs,
    isSpent: granted < size,
    unleased: Math.max(0, limit - takenInAll),
  };
}

/** How many requests may still come in the window, as far as this process knows, and how long it lasts. */
export type QuotaStanding = { readonly limit: number; readonly left: number; readonly endsInMs: number };

export function standingOf(permits: Permits, limit: number, nowMs: number): QuotaStanding {
  const left = Math.min(limit, permits.left + permits.unleased);
  return { limit, left, endsInMs: permits.endsAtMs - nowMs };
}

/**
 * What a process may give out for a window while the row does not answer: a tenth of the quota. So each process passes the limit by
 * that much at most, and a database that is slow is no reason to refuse at once. The next lease is asked for all the same.
 */
export function withLocalShare(held: Permits | undefined, limit: number, endsAtMs: number): Permits {
  const left = (held?.left ?? 0) + Math.min(limit, largestLease(limit));
  return { left, nextLease: firstLease(limit), endsAtMs, isSpent: false, unleased: 0 };
}

function firstLease(limit: number): number {
  return Math.max(1, Math.floor(limit / FIRST_PART));
}

function largestLease(limit: number): number {
  return Math.max(1, Math.floor(limit / LARGEST_PART));
}
