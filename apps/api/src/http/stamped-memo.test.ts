import { expect, test } from '@jest/globals';
import { StampedMemo } from './stamped-memo.js';

const TEXT = 'x'.repeat(1_000);
/** With what an entry costs beside its text. */
const ENTRY_BYTES = 2_000;
const keysOf = (count: number) => Array.from({ length: count }, (_, index) => `key-${index}`);

test('what is kept is found by its stamp only, and the last one counts', () => {
  const memo = new StampedMemo(10 * ENTRY_BYTES);
  memo.keep('a', '1', 'Zürich');
  expect([memo.find('a', '1')?.bytes.toString(), memo.find('a', '2'), memo.find('b', '1')]).toEqual([
    'Zürich',
    undefined,
    undefined,
  ]);
  memo.keep('a', '2', 'Bern');
  expect([memo.find('a', '1'), memo.find('a', '2')?.bytes.toString()]).toEqual([undefined, 'Bern']);
  memo.clear();
  expect(memo.find('a', '2')).toBeUndefined();
});

test('no more is held than fits, whatever comes and is replaced', () => {
  const memo = new StampedMemo(10 * ENTRY_BYTES);
  for (let round = 0; round < 5; round += 1) {
    for (const key of keysOf(25)) expect(memo.keep(key, String(round), TEXT).bytes.toString()).toBe(TEXT);
    const held = keysOf(25).filter((key) => memo.find(key, String(round)) !== undefined);
    expect(held.length).toBeLessThanOrEqual(10);
    expect(held.length).toBeGreaterThan(0);
  }
  expect(memo.keep('large', '', 'x'.repeat(30 * ENTRY_BYTES)).bytes).toHaveLength(30 * ENTRY_BYTES);
  expect(memo.find('large', '')).toBeUndefined();
});

test('a reader that goes over more than fits finds a part of it each time', () => {
  let state = 1;
  const random = () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
  const memo = new StampedMemo(80 * ENTRY_BYTES, random);
  const found = () =>
    keysOf(100).filter((key) => memo.find(key, '') !== undefined || memo.keep(key, '', TEXT) === undefined)
      .length;
  found();
  for (let round = 0; round < 5; round += 1) expect(found()).toBeGreaterThan(30);
});
