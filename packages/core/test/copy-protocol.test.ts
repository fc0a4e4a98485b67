import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { describe, expect, test } from '@jest/globals';
import { type Bounds, copyProtocol, RULES } from './model-check/copy-protocol.js';
import { search, walk } from './model-check/search.js';

const WALKS = 2_500;
/** Enough for all states of the first steps. */
const STATES_MAX = 30_000;
const STEPS_MAX = 70;

describe('records, epochs and marks', () => {
  test.each<Bounds>([
    { copies: 2, epochs: 3, writes: 3, faults: 3 },
    { copies: 3, epochs: 3, writes: 3, faults: 4 },
  ])(
    'lose and confuse nothing on long ways ($copies copies)',
    (bounds) => {
      const random = new SeededRandom(11);
      const { violation, trace, states } = walk(
        copyProtocol(bounds),
        (end) => random.below(end),
        WALKS,
        STEPS_MAX,
      );
      expect(states).toBeGreaterThan(50_000);
      expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
    },
    120_000,
  );

  test('lose and confuse nothing in any way of the first seven steps', () => {
    const bounds = { copies: 3, epochs: 2, writes: 1, faults: 1 };
    const { violation, trace, depth } = search(copyProtocol(bounds), STATES_MAX);
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
    expect(depth).toBeGreaterThanOrEqual(7);
  }, 120_000);

  test.each(RULES)(
    'need the rule: %s',
    (rule) => {
      const found = [2, 3].map((copies) => {
        const random = new SeededRandom(5);
        const bounds = { copies, epochs: 3, writes: 3, faults: 3 };
        return walk(copyProtocol(bounds, rule), (end) => random.below(end), WALKS, STEPS_MAX);
      });
      expect(found.some(({ violation }) => violation !== undefined)).toBe(true);
    },
    120_000,
  );
});
