/** Lists of recent changes, as ranges of bytes and as they are sent. */
import { BLOCK_BYTES, CLUSTER_BYTES } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { decodeStretches, encodeStretches, rangesOfStretches } from './stretches.js';

test.each<{ blocks: number; first: number; last: number }>([
  { blocks: 0b1, first: 0, last: 0 },
  { blocks: 0b1000, first: 3, last: 3 },
  { blocks: 0b10110, first: 1, last: 4 },
  { blocks: 0xffff, first: 0, last: 15 },
])('a stretch with blocks $blocks is the range of blocks $first to $last', ({ blocks, first, last }) => {
  const from = 2 * CLUSTER_BYTES;
  const range = { start: from + first * BLOCK_BYTES, end: from + (last + 1) * BLOCK_BYTES };
  expect(rangesOfStretches([[2, blocks]])).toEqual([range]);
});

test('a list is sent in pages and arrives as it was, to its last entry', () => {
  const list = Array.from({ length: 20_000 }, (_, index): [number, number] => [
    index * 3,
    (index % 65_535) + 1,
  ]);
  const arrived: [number, number][] = [];
  let pages = 0;
  for (let from: number | null = 0; from !== null && pages < 10; pages += 1) {
    const { stretches, next }: ReturnType<typeof encodeStretches> = encodeStretches(list, from);
    arrived.push(...decodeStretches(stretches ?? ''));
    from = next;
  }
  expect(pages).toBe(3);
  expect(arrived).toEqual(list);
});

test('a copy that does not know what was changed says so', () => {
  expect(encodeStretches(undefined, 0)).toEqual({ stretches: null, next: null });
});
