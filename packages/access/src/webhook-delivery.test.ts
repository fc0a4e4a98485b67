import { describe, expect, test } from '@jest/globals';
import {
  type Attempt,
  type DeliveryFacts,
  decideAfterAttempt,
  FAILING_MS_MAX,
  REDELIVERY_ATTEMPTS_MAX,
} from './webhook-delivery.js';

const FACTS: DeliveryFacts = { attempts: 1, failingMs: 0, isRedelivery: false, chance: 0 };
const answered = (status: number): Attempt => ({ kind: 'answered', status });

describe('decideAfterAttempt', () => {
  test.each<{ name: string; attempt: Attempt; facts?: Partial<DeliveryFacts>; want: string }>([
    { name: 'any success is one', attempt: answered(204), want: 'delivered' },
    { name: 'a redirect is not followed', attempt: answered(302), want: 'retry' },
    { name: 'a refusal may be cured', attempt: answered(404), want: 'retry' },
    { name: 'no answer may be cured', attempt: { kind: 'refused', why: 'no answer' }, want: 'retry' },
    { name: 'a receiver that is gone says so', attempt: answered(410), want: 'disable' },
    {
      name: 'a redelivery disables nothing',
      attempt: answered(410),
      facts: { isRedelivery: true },
      want: 'retry',
    },
    {
      name: 'nothing taken for a day',
      attempt: answered(500),
      facts: { failingMs: FAILING_MS_MAX },
      want: 'disable',
    },
    {
      name: 'a success after a day is one',
      attempt: answered(200),
      facts: { failingMs: FAILING_MS_MAX },
      want: 'delivered',
    },
    {
      name: 'the last try of a redelivery',
      attempt: answered(500),
      facts: { isRedelivery: true, attempts: REDELIVERY_ATTEMPTS_MAX },
      want: 'failed',
    },
    {
      name: 'the one before it',
      attempt: answered(500),
      facts: { isRedelivery: true, attempts: REDELIVERY_ATTEMPTS_MAX - 1, failingMs: FAILING_MS_MAX },
      want: 'retry',
    },
  ])('$name: $want', ({ attempt, facts, want }) => {
    expect(decideAfterAttempt(attempt, { ...FACTS, ...facts }).kind).toBe(want);
  });

  test.each([
    { attempts: 1, chance: 0, want: 5_000 },
    { attempts: 1, chance: 1, want: 2_500 },
    { attempts: 4, chance: 0, want: 40_000 },
    { attempts: 40, chance: 0, want: 3_600_000 },
    { attempts: 4_000, chance: 1, want: 1_800_000 },
  ])('attempt $attempts is followed after $want ms at chance $chance', ({ attempts, chance, want }) => {
    expect(decideAfterAttempt(answered(503), { ...FACTS, attempts, chance })).toEqual({
      kind: 'retry',
      afterMs: want,
      why: 'it answers 503',
    });
  });
});
