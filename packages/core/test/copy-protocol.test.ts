import { describe, expect, test } from '@jest/globals';
import { copyProtocol } from './model-check/copy-protocol.js';
import { RULES, type Rule } from './model-check/protocol-rules.js';
import { walkCopyProtocol } from './model-check/protocol-walks.js';
import { RULE_STORIES } from './model-check/rule-stories.js';
import { follow, search } from './model-check/search.js';

/** Ways by chance. `copy-protocol.night.test.ts` goes more of them, and searches more of the first steps. */
const WALKS = 500;
/** Within so many walks each rule that has no story is found missing. */
const RULE_WALKS = 1_000;
const STATES_MAX = 12_000;

describe('records, epochs and marks', () => {
  test.each([2, 3])('lose and confuse nothing on long ways (%i copies)', (copies) => {
    const { violation, trace, states } = walkCopyProtocol({ copies, seed: 11, walks: WALKS });
    expect(states).toBeGreaterThan(10_000);
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
  });

  test.each([
    { copies: 2, steps: 10 },
    { copies: 3, steps: 5 },
  ])(
    'lose and confuse nothing in any way of the first $steps steps ($copies copies)',
    ({ copies, steps }) => {
      const bounds = { copies, epochs: 2, writes: 1, faults: 1 };
      const { violation, trace, depth } = search(copyProtocol(bounds), STATES_MAX);
      expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
      expect(depth).toBeGreaterThanOrEqual(steps);
    },
  );

  test.each(RULES)('need the rule: %s', (rule) => {
    const story = RULE_STORIES[rule];
    if (story === undefined) {
      expect(foundByChance(rule)).toBe(true);
      return;
    }
    const bounds = { copies: story.copies, epochs: 3, writes: 1, faults: 4 };
    const held = follow(copyProtocol(bounds), story.held ?? story.steps);
    expect(held.violation).toBeUndefined();
    expect(follow(copyProtocol(bounds, rule), story.steps).violation).toBeDefined();
  });
});

function foundByChance(rule: Rule): boolean {
  return [2, 3].some(
    (copies) => walkCopyProtocol({ copies, seed: 5, walks: RULE_WALKS, rule }).violation !== undefined,
  );
}
