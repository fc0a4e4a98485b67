import { expect, test } from '@jest/globals';
import type { Setting } from '../api/types';
import { matches, rangeText, readForm, readValue, valueFor, valueText } from './setting-value';

function aSetting(definition: Partial<Setting['definition']>): Setting {
  const whole = {
    type: 'integer',
    category: 'rebuild',
    description: 'How many at once',
    ...definition,
  } as const;
  const overrides = { volumes: null, clusters: { total: 0, shown: [] } };
  return { name: 'a-limit', value: 1, default: 1, isDefault: true, overrides, definition: whole, version: 1 };
}

test.each<[Setting['value'], string | undefined, string]>([
  [true, undefined, 'On'],
  [false, undefined, 'Off'],
  ['', undefined, 'None'],
  ['best-effort', undefined, 'best-effort'],
  [25, '%', '25 %'],
  [3600, 's', '3,600 s'],
  [1200, undefined, '1,200'],
])('%j in %s is shown as %s', (value, unit, want) => {
  expect(valueText(value, unit === undefined ? {} : { unit })).toBe(want);
});

test.each<[string, Partial<Setting['definition']>, Setting['value']]>([
  ['true', { type: 'boolean' }, true],
  ['3', {}, 3],
  ['0.5', { type: 'number' }, 0.5],
  ['many', {}, 'many'],
  ['', {}, ''],
  ['unlimited', { mayBeUnlimited: true }, 'unlimited'],
  ['7', { type: 'enum' }, '7'],
])('%j of a form is given to the API in the type of the setting', (text, definition, want) => {
  expect(readValue(text, aSetting(definition).definition)).toBe(want);
});

const OF_BOTH = aSetting({ type: 'enum', engines: ['v1', 'v2'] });
const formOf = (texts: Record<string, string>) => (field: string) => texts[field] ?? '';

test('a map is shown as what volumes of each data engine have', () => {
  expect(valueText('{"v1":true,"v2":3600}', { unit: 's' })).toBe('v1: On, v2: 3,600 s');
  const mapped = { ...OF_BOTH, value: '{"v1":"enabled","v2":"disabled"}' };
  expect([valueFor(mapped, 'v1'), valueFor(mapped, 'v2')]).toEqual(['enabled', 'disabled']);
  expect(valueFor({ ...OF_BOTH, value: 'enabled' }, 'v2')).toBe('enabled');
});

test.each<[string, Setting['definition'], Record<string, string>, Setting['value']]>([
  ['one value', aSetting({}).definition, { value: '3' }, 3],
  ['one for its only engine', aSetting({ engines: ['v1'] }).definition, { value: '3' }, 3],
  ['the same for both', OF_BOTH.definition, { v1: 'enabled', v2: 'enabled' }, 'enabled'],
  ['a map', OF_BOTH.definition, { v1: 'a', v2: 'b' }, '{"v1":"a","v2":"b"}'],
])('a form gives %s', (_, definition, texts, want) => {
  expect(readForm(formOf(texts), definition)).toBe(want);
});

test('the range of a number is told with its unit, and of anything else none', () => {
  const limit = { min: 0, max: 9, unit: 's', mayBeUnlimited: true };
  expect(rangeText(aSetting(limit).definition)).toBe('From 0 to 9 s, or unlimited.');
  expect(rangeText(aSetting({ type: 'enum' }).definition)).toBeUndefined();
});

test('a search finds what has all of its words, wherever they stand', () => {
  expect(matches(aSetting({}), 'REBUILD once')).toBe(true);
  expect(matches(aSetting({}), 'rebuild never')).toBe(false);
});
