import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { describe, expect, test } from '@jest/globals';
import { DROP_RULES, type DropBounds, dropMarks } from './model-check/drop-marks.js';
import { type Found, search, walk } from './model-check/search.js';

const WALKS = 5_000;
const STEPS_MAX = 60;
/** More than there are within the bounds. */
const STATES_MAX = 200_000;

function byChance(bounds: DropBounds, rule?: (typeof DROP_RULES)[number]): Found {
  const random = new SeededRandom(17);
  return walk(dropMarks(bounds, rule), (end) => random.below(end), WALKS, STEPS_MAX);
}

describe('drop marks and the plan of a rebuild', () => {
  test.each<DropBounds>([
    { copies: 2, epochs: 3, writes: 4, layers: 5, faults: 4 },
    { copies: 3, epochs: 3, writes: 4, layers: 5, faults: 5 },
  ])(
    'leave no copy different that was away ($copies copies)',
    (bounds) => {
      const { violation, trace, states } = byChance(bounds);
      expect(states).toBeGreaterThan(50_000);
      expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
    },
    120_000,
  );

  test.each<DropBounds>([
    { copies: 2, epochs: 2, writes: 2, layers: 3, faults: 3 },
    { copies: 3, epochs: 2, writes: 2, layers: 2, faults: 2 },
  ])(
    'leave none different in any way at all of a few steps ($copies copies)',
    (bounds) => {
      const { violation, trace, isComplete } = search(dropMarks(bounds), STATES_MAX);
      expect({ violation, trace, isComplete }).toEqual({ violation: undefined, trace: [], isComplete: true });
    },
    120_000,
  );

  test.each(DROP_RULES)(
    'need the rule: %s',
    (rule) => {
      const found = [2, 3].some((copies) => {
        const bounds = { copies, epochs: 3, writes: 4, layers: 5, faults: 4 };
        return byChance(bounds, rule).violation !== undefined;
      });
      expect(found).toBe(true);
    },
    120_000,
  );
});
