import { expect, test } from '@jest/globals';
import { StampedMemo } from './stamped-memo.js';
import { WrittenPage } from './written-page.js';

const memo = new StampedMemo(1_000_000);
const written = ['Zürich', 'Bern', 'Basel'].map((name) => memo.keep(name, '', JSON.stringify({ name })));
const lend = (lengthBytes: number) => Buffer.alloc(lengthBytes);

test.each([0, 1, 3])('a page of %d items is sent as JSON writes it', (count) => {
  const page = new WrittenPage(written.slice(0, count), count === 3 ? 'next' : null, { total: 3 });
  expect(page.toBytes(lend).toString()).toBe(JSON.stringify(page));
  expect(page.items).toHaveLength(count);
});

test('pages that differ in an item, their order, what follows or the total have other hashes', () => {
  const [first, second, third] = written;
  if (first === undefined || second === undefined || third === undefined) throw new Error('three were kept');
  const pages = [
    new WrittenPage([first, second], null),
    new WrittenPage([first, third], null),
    new WrittenPage([second, first], null),
    new WrittenPage([first, second], 'next'),
    new WrittenPage([first, second], null, { total: 2 }),
    new WrittenPage([], null),
  ];
  expect(new Set(pages.map(({ hash }) => hash)).size).toBe(pages.length);
  expect(new WrittenPage([first, second], null).hash).toBe(pages[0]?.hash);
});
