import { expect, test } from '@jest/globals';
import { PageBuffers } from './page-buffers.js';

const KIB = 1024;

test('memory is lent again once it was given back, and not before', () => {
  const buffers = new PageBuffers();
  const first = buffers.lend(100 * KIB);
  const second = buffers.lend(100 * KIB);
  expect(first.bytes).toHaveLength(100 * KIB);
  expect(second.bytes.buffer).not.toBe(first.bytes.buffer);
  first.release();
  const third = buffers.lend(120 * KIB);
  expect(third.bytes.buffer).toBe(first.bytes.buffer);
  expect(third.bytes).toHaveLength(120 * KIB);
});

test('a small page and a large one are not lent the same', () => {
  const buffers = new PageBuffers();
  const small = buffers.lend(10);
  small.release();
  const large = buffers.lend(200 * KIB);
  expect(large.bytes).toHaveLength(200 * KIB);
  expect(large.bytes.buffer).not.toBe(small.bytes.buffer);
  expect(buffers.lend(64 * KIB).bytes.buffer).toBe(small.bytes.buffer);
});

test('no more is kept than 8 MiB', () => {
  const buffers = new PageBuffers();
  const lent = Array.from({ length: 40 }, () => buffers.lend(256 * KIB));
  for (const { release } of lent) release();
  const again = Array.from({ length: 40 }, () => buffers.lend(256 * KIB));
  const known = new Set(lent.map(({ bytes }) => bytes.buffer));
  expect(again.filter(({ bytes }) => known.has(bytes.buffer))).toHaveLength(32);
});
