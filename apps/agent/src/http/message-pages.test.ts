import { expect, test } from '@jest/globals';
import { MessagePages } from './message-pages.js';

test('a message is whole with all its pages, in any order and each maybe twice', () => {
  const pages = new MessagePages();
  pages.take('a', 1, 2, '2]');
  expect(() => pages.whole('a')).toThrow('not all here');
  pages.take('a', 1, 2, '2]');
  expect(() => pages.whole('a')).toThrow('not all here');
  pages.take('a', 0, 2, '[1,');
  expect(pages.whole('a')).toEqual([1, 2]);
  expect(() => pages.whole('b')).toThrow('not all here');
  expect(() => pages.take('a', 2, 2, '')).toThrow('not all here');
});

test('eight messages are taken at once; of those that are given, the oldest makes room', () => {
  const taken = new MessagePages();
  for (let index = 0; index < 8; index += 1) taken.take(`m${index}`, 0, 2, '');
  expect(() => taken.take('m8', 0, 2, '')).toThrow('8 long messages');
  taken.take('m7', 1, 2, '""');
  expect(taken.whole('m7')).toBe('');

  const given = new MessagePages(2);
  const offers = Array.from({ length: 9 }, (_, index) => given.offer(`"${index}"`));
  expect(() => given.page(offers[0]?.messageId ?? '', 0)).toThrow('not all here');
  expect(offers.slice(1).map(({ messageId }) => given.page(messageId, 0) + given.page(messageId, 1))).toEqual(
    [1, 2, 3, 4, 5, 6, 7, 8].map((index) => `"${index}"`),
  );
});
