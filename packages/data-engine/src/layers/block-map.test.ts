import { describe, expect, test } from '@jest/globals';
import { BLOCKS_PER_PAGE, BlockMap } from './block-map.js';

test('the next held block is the first one that is held, across pages that were never written', () => {
  const map = new BlockMap(4 * BLOCKS_PER_PAGE);
  const held = [5, 6, 9, BLOCKS_PER_PAGE - 1, 3 * BLOCKS_PER_PAGE + 7];
  for (const block of held) map.setRange(block, 1);
  for (const from of [0, 1, ...held.flatMap((block) => [block - 1, block, block + 1])])
    expect(map.nextHeld(from)).toBe(held.find((block) => block >= from));
  expect(map.nextHeld(4 * BLOCKS_PER_PAGE)).toBeUndefined();
});

test('a run ends where the next block differs, whether bytes of the map are full, empty or mixed', () => {
  const held = [...'11111111', ...'00000000', ...'11110000', ...'11111111', ...'11111111', ...'00000001'].map(
    Number,
  );
  const map = new BlockMap(held.length);
  for (const [block, bit] of held.entries()) if (bit === 1) map.setRange(block, 1);
  for (const [first, bit] of held.entries()) {
    const other = held.findIndex((one, at) => at > first && one !== bit);
    const count = (other === -1 ? held.length : other) - first;
    expect(map.runAt(first, held.length - first)).toEqual({ first, count, held: bit === 1 });
  }
});

describe('pages that are being stored', () => {
  const taken = (map: BlockMap) => {
    const pages = map.takeDirty();
    return { pages, before: pages.map(({ bytes }) => Uint8Array.from(bytes)) };
  };

  test('stay as they were taken, while what is written meanwhile is in the map and dirty', () => {
    const map = new BlockMap(2 * BLOCKS_PER_PAGE);
    map.setRange(3, 2);
    const { pages, before } = taken(map);
    map.setRange(8, 1);
    map.clearRange(3, 1);
    expect(pages.map(({ bytes }) => bytes)).toEqual(before);
    expect([map.has(3), map.has(4), map.has(8), map.heldBlocks]).toEqual([false, true, true, 2]);
    const again = taken(map);
    map.setRange(9, 1);
    map.giveBack(pages);
    map.setRange(10, 1);
    expect(again.pages.map(({ bytes }) => bytes)).toEqual(again.before);
  });

  test('are changed in place once they are given back', () => {
    const map = new BlockMap(BLOCKS_PER_PAGE);
    map.setRange(0, 1);
    const [first] = map.takeDirty();
    map.giveBack(first === undefined ? [] : [first]);
    map.setRange(1, 1);
    expect(map.takeDirty()[0]?.bytes).toBe(first?.bytes);
  });

  test('come in order', () => {
    const map = new BlockMap(3 * BLOCKS_PER_PAGE);
    for (const page of [2, 0, 1]) map.setRange(page * BLOCKS_PER_PAGE, 1);
    expect(map.takeDirty().map(({ index }) => index)).toEqual([0, 1, 2]);
  });
});
