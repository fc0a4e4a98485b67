import { expect, test } from '@jest/globals';
import type { Setting } from '../api/types';
import { matches, rangeText, readValue, valueText } from './setting-value';

function aSetting(definition: Partial<Setting['definition']>): Setting {
  const whole = {
    type: 'integer',
    category: 'rebuild',
    description: 'How many at once',
    ...definition,
  } as const;
  return { name: 'a-limit', value: 1, default: 1, isDefault: true, definition: whole, version: 1 };
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

test('the range of a number is told with its unit, and of anything else none', () => {
  const limit = { min: 0, max: 9, unit: 's', mayBeUnlimited: true };
  expect(rangeText(aSetting(limit).definition)).toBe('From 0 to 9 s, or unlimited.');
  expect(rangeText(aSetting({ type: 'enum' }).definition)).toBeUndefined();
});

test('a search finds what has all of its words, wherever they stand', () => {
  expect(matches(aSetting({}), 'REBUILD once')).toBe(true);
  expect(matches(aSetting({}), 'rebuild never')).toBe(false);
});
