import { expect, test } from '@jest/globals';
import { DECISIONS_PER_FLEET, disagreementOn, type Seen, tooSeldom } from '../../../test/index-agreement.js';

/** `fleet-index.night.test.ts` has four times as many. */
const FLEETS = 1_500;

test(`agrees with the linear path and with the definition in ${FLEETS * DECISIONS_PER_FLEET} decisions`, () => {
  const seen: Seen = new Map();
  expect(disagreementOn(1, FLEETS, seen)).toBeUndefined();
  expect(tooSeldom(seen, 25)).toEqual([]);
});
