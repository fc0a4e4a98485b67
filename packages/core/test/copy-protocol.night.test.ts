/** A search for the night: the model of records, epochs and marks, searched further than `copy-protocol.test.ts` does. */
import { describe, expect, test } from '@jest/globals';
import { copyProtocol } from './model-check/copy-protocol.js';
import { walkCopyProtocol } from './model-check/protocol-walks.js';
import { search } from './model-check/search.js';

const WALKS = 2_500;
/** Enough for all states of the first steps. */
const STATES_MAX = 60_000;

describe('records, epochs and marks', () => {
  test.each([2, 3])('lose and confuse nothing on many long ways (%i copies)', (copies) => {
    const { violation, trace, states } = walkCopyProtocol({ copies, seed: 23, walks: WALKS });
    expect(states).toBeGreaterThan(50_000);
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
  });

  test.each([
    { copies: 2, steps: 14 },
    { copies: 3, steps: 7 },
  ])(
    'lose and confuse nothing in any way of the first $steps steps ($copies copies)',
    ({ copies, steps }) => {
      const bounds = { copies, epochs: 2, writes: 1, faults: 1 };
      const { violation, trace, depth } = search(copyProtocol(bounds), STATES_MAX);
      expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
      expect(depth).toBeGreaterThanOrEqual(steps);
    },
  );
});
