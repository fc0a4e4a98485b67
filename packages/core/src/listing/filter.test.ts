import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type Comparison, type Filter, type FilterOperator, filterText, parseFilter } from './filter.js';
import { parseSort } from './sort.js';

const FIELDS = {
  name: 'text',
  id: 'id',
  size: 'number',
  createdAt: 'time',
  ready: 'boolean',
  'copies.nodeId': 'ids',
  tags: 'texts',
} as const;
const ID = '01a1fd5b-0000-7000-8000-000000000201';

function is(field: string, operator: FilterOperator, ...values: Comparison['values']): Comparison {
  return { kind: 'comparison', field, operator, values };
}

test.each<[string, Filter | undefined]>([
  ['', undefined],
  ['  ', undefined],
  ['name=pg', is('name', '=', 'pg')],
  ['name = "a b (c), d=e"', is('name', '=', 'a b (c), d=e')],
  ['name=pg-*', is('name', 'prefix', 'pg-')],
  ['name!=pg-*', is('name', 'not-prefix', 'pg-')],
  ['name="pg-*"', is('name', '=', 'pg-*')],
  ['size>=1.5Gi', is('size', '>=', 1_610_612_736)],
  [`id in (${ID.toUpperCase()})`, is('id', 'in', ID)],
  [`copies.nodeId!=${ID}`, is('copies.nodeId', '!=', ID)],
  ['tags=ssd', is('tags', '=', 'ssd')],
  ['tags!=ss*', is('tags', 'not-prefix', 'ss')],
  ['name IN (a, "b c")', is('name', 'in', 'a', 'b c')],
  ['createdAt<2026-01-31T12:00:00+01:00', is('createdAt', '<', '2026-01-31T11:00:00.000Z')],
  [
    'ready=true and size>1 or name=a',
    {
      kind: 'or',
      parts: [{ kind: 'and', parts: [is('ready', '=', true), is('size', '>', 1)] }, is('name', '=', 'a')],
    },
  ],
  [
    'ready=true AND (size>1 OR name=a)',
    {
      kind: 'and',
      parts: [is('ready', '=', true), { kind: 'or', parts: [is('size', '>', 1), is('name', '=', 'a')] }],
    },
  ],
])('%j reads as it is written', (text, want) => {
  expect(parseFilter(text, FIELDS)).toEqual(want);
});

test.each([
  ['name', "can't be read from here on: its end"],
  ['name=a b=c', "can't be read from here on: b=c"],
  ['name=a AND', "can't be read from here on: its end"],
  ['(name=a', "can't be read from here on: its end"],
  ['name=a)', "can't be read from here on: )"],
  ['name in ()', "can't be read from here on: )"],
  ['name in (a b)', "can't be read from here on: b)"],
  ['name="a', 'can\'t be read from here on: "a'],
  ['__proto__=1', "can't be read from here on: __proto__=1"],
  ['toString=1', 'has no field toString'],
  ['name>a', 'can compare name by =, != and in only'],
  ['size=many', 'needs a number for size'],
  ['id=1', 'needs an id for id'],
  ['copies.nodeId=1', 'needs an id for copies.nodeId'],
  ['ready=yes', 'needs true or false for ready'],
  ['createdAt>+275760-09-13', 'needs a time for createdAt'],
])('%j is refused, with what is wrong', (text, why) => {
  expect(() => parseFilter(text, FIELDS)).toThrow(why);
});

test.each([
  ['comparisons', Array.from({ length: 11 }, () => 'name=a').join(' OR '), 'more than 10 comparisons'],
  ['values', `name in (${Array.from({ length: 51 }, () => 'a').join(',')})`, 'more than 50 values'],
  ['parentheses', `${'('.repeat(6)}name=a${')'.repeat(6)}`, 'more than 5 parentheses'],
  ['characters', `name=${'a'.repeat(1_000)}`, 'longer than 1000'],
])('more %s than any user needs are refused', (_what, text, why) => {
  expect(() => parseFilter(text, FIELDS)).toThrow(why);
});

const word = fc.stringMatching(/^[^"]{1,8}$/);
const comparison = fc.oneof(
  fc.tuple(fc.constantFrom('=', '!='), word).map(([operator, text]) => is('name', operator as '=', text)),
  fc.stringMatching(/^[a-z-]{0,6}$/).map((text) => is('name', 'prefix', text)),
  fc.array(word, { minLength: 1, maxLength: 4 }).map((texts) => is('name', 'in', ...texts)),
  fc
    .tuple(fc.constantFrom('<', '>='), fc.integer())
    .map(([operator, size]) => is('size', operator as '<', size)),
);

test('what is written of a filter reads as that filter', () => {
  const all = fc.array(comparison, { minLength: 2, maxLength: 3 });
  const either = fc.array(
    fc.oneof(
      comparison,
      all.map((parts): Filter => ({ kind: 'and', parts })),
    ),
    {
      minLength: 2,
      maxLength: 3,
    },
  );
  const filter = fc.oneof(
    comparison,
    all.map((parts): Filter => ({ kind: 'and', parts })),
    either.map((parts): Filter => ({ kind: 'or', parts })),
  );
  fc.assert(
    fc.property(filter, (one) => {
      expect(parseFilter(filterText(one), FIELDS)).toEqual(one);
    }),
  );
});

test('an order has up to three fields, each once', () => {
  expect(parseSort('-size, name', FIELDS)).toEqual([
    { field: 'size', descending: true },
    { field: 'name', descending: false },
  ]);
  expect(() => parseSort('nope', FIELDS)).toThrow('has no field nope');
  expect(() => parseSort('size,-size', FIELDS)).toThrow('names a field twice');
  expect(() => parseSort('copies.nodeId', FIELDS)).toThrow('has no field copies.nodeId');
  expect(() => parseSort('size,name,id,ready', FIELDS)).toThrow('more than 3 fields');
});
