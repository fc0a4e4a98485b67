import { describe, expect, test } from '@jest/globals';
import { nextSort, readListState, writeListState } from './list-state';

const read = (query: string) => readListState(new URLSearchParams(query));

describe('the state of the list in its address', () => {
  test.each([
    '',
    'q=pg',
    'sort=-size%2Cname',
    'columns=health%2Clabels',
    'density=compact',
    'q=a&density=comfortable',
  ])('is read and written alike: %j', (query) => {
    expect(writeListState(read(query))).toBe(query);
  });

  test.each(['sort=drop table', 'density=huge', 'columns=health,copies,state,attached,size,written,none'])(
    'is the usual one where it can not be read: %j',
    (query) => {
      expect(writeListState(read(query))).toBe('');
    },
  );
});

test.each([
  ['-risk,name', 'name', 'name'],
  ['name', 'name', '-name'],
  ['name', 'size', '-size,name'],
  ['-size,name', 'size', 'size,name'],
  ['size,name', 'size', '-size,name'],
])('sorted by %j, a click on %j sorts by %j', (current, field, next) => {
  expect(nextSort(current, field)).toBe(next);
});
