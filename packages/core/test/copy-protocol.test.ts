import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { describe, expect, test } from '@jest/globals';
import { copyProtocol } from './model-check/copy-protocol.js';
import { RULES, type Rule } from './model-check/protocol-rules.js';
import type { Bounds } from './model-check/protocol-state.js';
import { RULE_STORIES } from './model-check/rule-stories.js';
import { follow, search, walk } from './model-check/search.js';

const WALKS = 2_500;
/** Enough for all states of the first steps. */
const STATES_MAX = 60_000;
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

  test.each([
    { copies: 2, faults: 1, steps: 14 },
    { copies: 3, faults: 1, steps: 7 },
  ])(
    'lose and confuse nothing in any way of the first $steps steps ($copies copies)',
    ({ copies, faults, steps }) => {
      const bounds = { copies, epochs: 2, writes: 1, faults };
      const { violation, trace, depth } = search(copyProtocol(bounds), STATES_MAX);
      expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
      expect(depth).toBeGreaterThanOrEqual(steps);
    },
    120_000,
  );

  test.each(RULES)(
    'need the rule: %s',
    (rule) => {
      const story = RULE_STORIES[rule];
      if (story === undefined) {
        expect(foundByChance(rule)).toBe(true);
        return;
      }
      const bounds = { copies: story.copies, epochs: 3, writes: 1, faults: 4 };
      const held = follow(copyProtocol(bounds), story.held ?? story.steps);
      expect(held.violation).toBeUndefined();
      expect(follow(copyProtocol(bounds, rule), story.steps).violation).toBeDefined();
    },
    120_000,
  );
});

function foundByChance(rule: Rule): boolean {
  return [2, 3].some((copies) => {
    const random = new SeededRandom(5);
    const bounds = { copies, epochs: 3, writes: 3, faults: 3 };
    const { violation } = walk(copyProtocol(bounds, rule), (end) => random.below(end), WALKS, STEPS_MAX);
    return violation !== undefined;
  });
}
