import { describe, expect, test } from '@jest/globals';
import { decideTake, type Permits, standingOf, withLease, withLocalShare } from './request-permits.js';

const WINDOW_MS = 60_000;
const somePermits = (permits: Partial<Permits> = {}): Permits => ({
  left: 0,
  nextLease: 4,
  endsAtMs: WINDOW_MS,
  isSpent: false,
  unleased: 0,
  ...permits,
});

describe('decideTake', () => {
  test.each<{ name: string; permits: Permits | undefined; count?: number; nowMs?: number; want: object }>([
    { name: 'nothing is held yet', permits: undefined, want: { kind: 'lease', nextLease: 3 } },
    {
      name: 'enough is held',
      permits: somePermits({ left: 5 }),
      count: 5,
      want: { kind: 'take', permits: { left: 0 } },
    },
    {
      name: 'too little is held',
      permits: somePermits({ left: 1 }),
      count: 2,
      want: { kind: 'lease', nextLease: 4 },
    },
    {
      name: 'too little is held, and the row has no more',
      permits: somePermits({ left: 1, isSpent: true }),
      count: 2,
      nowMs: 59_000,
      want: { kind: 'refuse', retryAfterMs: 1_000 },
    },
    {
      name: 'the last one is held',
      permits: somePermits({ left: 1, isSpent: true }),
      want: { kind: 'take', permits: { left: 0, isSpent: true } },
    },
    {
      name: 'what is held is of a window that has ended',
      permits: somePermits({ left: 9, isSpent: true }),
      nowMs: WINDOW_MS,
      want: { kind: 'lease', nextLease: 3 },
    },
  ])('$name', ({ permits, count = 1, nowMs = 0, want }) => {
    expect(decideTake(permits, { count, limit: 300, nowMs })).toMatchObject(want);
  });
});

describe('withLease', () => {
  test.each([
    { name: 'within the limit', held: 0, size: 10, takenInAll: 40, want: { left: 10, isSpent: false } },
    { name: 'to the limit', held: 2, size: 10, takenInAll: 100, want: { left: 12, isSpent: false } },
    { name: 'past the limit', held: 2, size: 10, takenInAll: 104, want: { left: 8, isSpent: true } },
    { name: 'after the limit', held: 0, size: 10, takenInAll: 130, want: { left: 0, isSpent: true } },
  ])('a lease $name', ({ held, size, takenInAll, want }) => {
    const permits = withLease(somePermits({ left: held }), 100, { size, takenInAll, endsAtMs: WINDOW_MS });
    expect(permits).toMatchObject(want);
  });

  test('a lease is at most a tenth of the limit', () => {
    const { nextLease } = withLease(undefined, 100, { size: 8, takenInAll: 8, endsAtMs: WINDOW_MS });
    expect(nextLease).toBe(10);
  });
});

test('a local share is a tenth of the limit, and none where nothing is allowed', () => {
  expect(withLocalShare(undefined, 100, WINDOW_MS).left).toBe(10);
  expect(withLocalShare(undefined, 3, WINDOW_MS).left).toBe(1);
  expect(withLocalShare(undefined, 0, WINDOW_MS).left).toBe(0);
});

test('what is left is what is held and what the row had after the last lease', () => {
  const permits = withLease(somePermits({ left: 2 }), 100, { size: 10, takenInAll: 40, endsAtMs: WINDOW_MS });
  expect(standingOf(permits, 100, 20_000)).toEqual({ limit: 100, left: 72, endsInMs: 40_000 });
  const spent = withLease(undefined, 100, { size: 10, takenInAll: 104, endsAtMs: WINDOW_MS });
  expect(standingOf(spent, 100, 0)).toMatchObject({ left: 6 });
});

test.each([0, 1, 3, 60, 5_000])(
  'three processes give out all of %d and no more, with few leases',
  (limit) => {
    const processes: (Permits | undefined)[] = [undefined, undefined, undefined];
    let takenInAll = 0;
    let leases = 0;
    const take = (at: number): boolean => {
      for (;;) {
        const decision = decideTake(processes[at], { count: 1, limit, nowMs: 0 });
        if (decision.kind === 'refuse') return false;
        if (decision.kind === 'take') {
          processes[at] = decision.permits;
          return true;
        }
        const size = decision.nextLease;
        takenInAll += size;
        leases += 1;
        processes[at] = withLease(processes[at], limit, { size, takenInAll, endsAtMs: WINDOW_MS });
      }
    };
    const given = Array.from({ length: 2 * limit + 3 }, (_, index) => take(index % 3)).filter(Boolean).length;
    expect(given).toBe(limit);
    expect(leases).toBeLessThanOrEqual(limit < 100 ? limit + 3 : 30);
  },
);
