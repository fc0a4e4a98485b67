/**
 * Decision on a delivery to a webhook after each attempt: whether its receiver has it, when it is tried again, and when the
 * webhook is given up.
 */

/** What an attempt came to. `refused` is told to users, so that it holds no text of the receiver's. */
export type Attempt =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'refused'; readonly why: string };

export type DeliveryFacts = {
  /** Attempts up to now, this one among them. */
  readonly attempts: number;
  /** Since the first failure after the last success of the webhook; 0: this is the first one. */
  readonly failingMs: number;
  /** A user asked for it once more. It waits for no other delivery, and none waits for it. */
  readonly isRedelivery: boolean;
  /** From 0 to 1, by chance. */
  readonly chance: number;
};

export type AfterAttempt =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'retry'; readonly afterMs: number; readonly why: string }
  | { readonly kind: 'failed'; readonly why: string }
  /** The delivery keeps waiting, for when a user enables the webhook again. */
  | { readonly kind: 'disable'; readonly why: string };

const FIRST_PAUSE_MS = 5_000;
const PAUSE_MS_MAX = 3_600_000;
/** A receiver that has taken nothing for a day is gone, or needs its owner. */
export const FAILING_MS_MAX = 24 * 3_600_000;
/** Attempts of a redelivery: the user who asked for it looks on. */
export const REDELIVERY_ATTEMPTS_MAX = 5;
const GONE = 410;

export function decideAfterAttempt(attempt: Attempt, facts: DeliveryFacts): AfterAttempt {
  if (attempt.kind === 'answered' && attempt.status >= 200 && attempt.status < 300)
    return { kind: 'delivered' };
  const why = attempt.kind === 'refused' ? attempt.why : wordsOf(attempt.status);
  if (facts.isRedelivery && facts.attempts >= REDELIVERY_ATTEMPTS_MAX) return { kind: 'failed', why };
  if (!facts.isRedelivery && attempt.kind === 'answered' && attempt.status === GONE)
    return { kind: 'disable', why: 'its receiver answers that it is gone for good (410)' };
  if (!facts.isRedelivery && facts.failingMs >= FAILING_MS_MAX)
    return { kind: 'disable', why: `its receiver has taken nothing for a day: ${why}` };
  return { kind: 'retry', afterMs: pauseMs(facts), why };
}

/** Twice as long each time, and up to half of it left out by chance: receivers that come back are not asked by all at once. */
function pauseMs({ attempts, chance }: DeliveryFacts): number {
  const full = Math.min(PAUSE_MS_MAX, FIRST_PAUSE_MS * 2 ** Math.min(attempts - 1, 20));
  return Math.round(full * (1 - chance / 2));
}

function wordsOf(status: number): string {
  if (status >= 300 && status < 400) return `it answers ${status}, and redirects are not followed`;
  return `it answers ${status}`;
}
