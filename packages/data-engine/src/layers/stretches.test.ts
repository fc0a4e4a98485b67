import { describe, expect, test } from '@jest/globals';
import { type Run, stretchesOf } from './stretches.js';

const run = (first: number, count: number): Run => ({ first, count });

describe('stretches that are read in one call each', () => {
  test.each([
    { name: 'of no runs', runs: [], stretches: [] },
    { name: 'of one run', runs: [run(3, 2)], stretches: [{ ...run(3, 2), runs: [run(3, 2)] }] },
    {
      name: 'with a gap as long as may be',
      runs: [run(0, 1), run(5, 2)],
      stretches: [{ ...run(0, 7), runs: [run(0, 1), run(5, 2)] }],
    },
    {
      name: 'with a longer gap',
      runs: [run(0, 1), run(6, 2)],
      stretches: [
        { ...run(0, 1), runs: [run(0, 1)] },
        { ...run(6, 2), runs: [run(6, 2)] },
      ],
    },
    {
      name: 'gaps are counted from the last run, not from the first',
      runs: [run(0, 1), run(4, 1), run(8, 1), run(20, 1)],
      stretches: [
        { ...run(0, 9), runs: [run(0, 1), run(4, 1), run(8, 1)] },
        { ...run(20, 1), runs: [run(20, 1)] },
      ],
    },
  ])('$name', ({ runs, stretches }) => {
    expect(stretchesOf(runs, 4)).toEqual(stretches);
  });

  test('are the runs themselves where no gap may be read', () => {
    expect(stretchesOf([run(0, 1), run(2, 1)], 0).map(({ runs }) => runs)).toEqual([
      [run(0, 1)],
      [run(2, 1)],
    ]);
  });
});
