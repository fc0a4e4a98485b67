/** A search for the night: the fleet index and the linear path agree on many more fleets than `fleet-index.test.ts` makes. */
import { expect, test } from '@jest/globals';
import { DECISIONS_PER_FLEET, disagreementOn, type Seen, tooSeldom } from '../../../test/index-agreement.js';

const FIRST = 1_501;
const LAST = 6_000;

test(`agrees with the linear path and with the definition in ${(LAST - FIRST + 1) * DECISIONS_PER_FLEET} more decisions`, () => {
  const seen: Seen = new Map();
  expect(disagreementOn(FIRST, LAST, seen)).toBeUndefined();
  expect(tooSeldom(seen, 100)).toEqual([]);
});
