import { expect, test } from '@jest/globals';
import { blocksToRead, type ChangedRange } from './plan-reads.js';

const BLOCK = 100;
const range = (offset: number, lengthBytes: number): ChangedRange => ({ offset, lengthBytes });

test('without an older backup everything is read', () => {
  expect(blocksToRead(250, BLOCK)).toEqual([0, 1, 2]);
});

test.each([
  { name: 'nothing', size: 500, before: 500, changed: [], want: [] },
  { name: 'an empty range', size: 500, before: 500, changed: [range(120, 0)], want: [] },
  { name: 'a byte', size: 500, before: 500, changed: [range(199, 1)], want: [1] },
  { name: 'over a border', size: 500, before: 500, changed: [range(199, 2)], want: [1, 2] },
  { name: 'one block twice', size: 500, before: 500, changed: [range(210, 5), range(201, 5)], want: [2] },
  { name: 'behind the end', size: 250, before: 250, changed: [range(240, 500)], want: [2] },
  { name: 'by growing from within a block', size: 500, before: 250, changed: [], want: [2, 3, 4] },
  { name: 'by growing from a border', size: 500, before: 300, changed: [], want: [3, 4] },
  { name: 'by shrinking into a block', size: 250, before: 500, changed: [], want: [2] },
  { name: 'by shrinking to a border', size: 300, before: 500, changed: [], want: [] },
])('a volume that was changed by $name has $want read', ({ size, before, changed, want }) => {
  expect(blocksToRead(size, BLOCK, { sizeBytes: before, changed })).toEqual(want);
});
