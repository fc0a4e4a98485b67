/** A search for the night: the model of drop marks, searched further than `drop-marks.test.ts` does. */
import { describe, expect, test } from '@jest/globals';
import { type DropBounds, dropMarks } from './model-check/drop-marks.js';
import { walkDropMarks } from './model-check/drop-walks.js';
import { search } from './model-check/search.js';

const WALKS = 5_000;
/** More than there are within the bounds. */
const STATES_MAX = 200_000;

describe('drop marks and the plan of a rebuild', () => {
  test.each([
    { copies: 2, faults: 4 },
    { copies: 3, faults: 5 },
  ])('leave no copy different that was away, on many ways ($copies copies)', ({ copies, faults }) => {
    const { violation, trace, states } = walkDropMarks({ copies, faults, seed: 29, walks: WALKS });
    expect(states).toBeGreaterThan(50_000);
    expect({ violation, trace }).toEqual({ violation: undefined, trace: [] });
  });

  test.each<DropBounds>([
    { copies: 2, epochs: 2, writes: 2, layers: 3, faults: 3 },
    { copies: 3, epochs: 2, writes: 2, layers: 2, faults: 2 },
  ])('leave none different in any way at all of a few steps ($copies copies)', (bounds) => {
    const { violation, trace, isComplete } = search(dropMarks(bounds), STATES_MAX);
    expect({ violation, trace, isComplete }).toEqual({ violation: undefined, trace: [], isComplete: true });
  });
});
