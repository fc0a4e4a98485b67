import { expect, test } from '@jest/globals';
import { parseFilter } from './filter.js';
import { matchesFilter } from './match-filter.js';

const TYPES = { name: 'text', size: 'number', zone: 'text' } as const;
const FIELDS = { name: 'pg-1', size: 7 };

test.each([
  ['name=pg-1', true],
  ['name=pg-2', false],
  ['name!=pg-2', true],
  ['name=pg-*', true],
  ['name!=pg-*', false],
  ['name in (a, pg-1)', true],
  ['name in (a, b)', false],
  ['size>6', true],
  ['size>7', false],
  ['size>=7', true],
  ['size<7', false],
  ['size<=7', true],
  ['name=pg-1 AND size=8', false],
  ['name=pg-2 OR size=7', true],
  ['zone=a', false],
  ['zone!=a', true],
])('%s is %s', (text, want) => {
  const filter = parseFilter(text, TYPES);
  expect(filter !== undefined && matchesFilter(filter, FIELDS)).toBe(want);
});
