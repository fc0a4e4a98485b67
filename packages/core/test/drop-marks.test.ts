import { describe, expect, test } from '@jest/globals';
import { DROP_RULES, type DropRule, dropMarks } from './model-check/drop-marks.js';
import { walkDropMarks } from './model-check/drop-walks.js';
import { follow, search } from './model-check/search.js';

/** Ways by chance. `drop-marks.night.test.ts` goes more of them, and searches more of the first steps. */
const WALKS = 1_000;
/** More than there are within the bounds. */
const STATES_MAX = 50_000;

/** A rule that matters so seldom that chance would need thousands of ways. */
const SELDOM = {
  rule: 'copies are equal before a drop is marked',
  steps: [
    'the process of copy c dies',
    'copy b is cut off',
    'write 1 of block 0 is sent',
    'copy b returns',
    'write 1 arrives at copy a',
    'the engine dies',
    'an engine begins',
    'the drop of c is marked',
    'copy b is cut off',
    'copy c returns',
    'copy b returns',
    'copy b is dropped',
    'the copies are made equal',
    'the drop of b is marked',
    'copy c is rebuilt',
    'the marks of the copies are cleared',
    'copy b is rebuilt',
  ],
} as const;

describe('drop marks and the plan of a rebuild', () => {
  test.each([
    { copies: 2, faults: 4 },
    { copies: 3, faults: 5 },
  ])('leave no copy different that was away ($copies copies)', ({ copies, faults }) => {
    const { violation, trace, states } = walkDropMarks({ copies, faults, seed: 17, walks: WALKS });
    expect(states).toBeGreaterThan(10_000);
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
  });

  test.each([
    { copies: 2, epochs: 2, writes: 2, layers: 2, faults: 2 },
    { copies: 3, epochs: 2, writes: 1, layers: 2, faults: 2 },
  ])('leave none different in any way at all of a few steps ($copies copies)', (bounds) => {
    const { violation, trace, isComplete } = search(dropMarks(bounds), STATES_MAX);
    expect({ violation, trace, isComplete }).toEqual({ violation: undefined, trace: [], isComplete: true });
  });

  test.each(DROP_RULES.filter((rule) => rule !== SELDOM.rule))('need the rule: %s', (rule) => {
    expect(isFoundByChance(rule)).toBe(true);
  });

  test(`need the rule: ${SELDOM.rule}`, () => {
    const bounds = { copies: 3, epochs: 3, writes: 4, layers: 5, faults: 4 };
    expect(follow(dropMarks(bounds), SELDOM.steps).violation).toBeUndefined();
    expect(follow(dropMarks(bounds, SELDOM.rule), SELDOM.steps).violation).toBeDefined();
  });
});

function isFoundByChance(rule: DropRule): boolean {
  return [2, 3].some((copies) => {
    const { violation } = walkDropMarks({ copies, faults: 4, seed: 17, walks: WALKS, rule });
    return violation !== undefined;
  });
}
