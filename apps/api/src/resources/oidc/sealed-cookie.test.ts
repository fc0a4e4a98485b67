import { expect, test } from '@jest/globals';
import { CookieSeal } from './sealed-cookie.js';

const NOON = new Date('2026-11-24T12:00:00Z');
const LATER = new Date('2026-11-24T12:10:00Z');
const seal = new CookieSeal('a secret of the client');

test('what was sealed is read until it ends, by every process with the secret', () => {
  const text = seal.seal({ state: 's' }, LATER);
  expect(new CookieSeal('a secret of the client').open(text, NOON)).toEqual({ state: 's' });
  expect(seal.open(text, LATER)).toBeUndefined();
});

test.each<{ name: string; change: (text: string) => string }>([
  { name: 'a text of other length', change: (text) => text.slice(0, 20) },
  {
    name: 'a changed last byte',
    change: (text) => `${text.slice(0, -2)}${text.endsWith('AA') ? 'BB' : 'AA'}`,
  },
  { name: 'one of another secret', change: () => new CookieSeal('another').seal({ state: 's' }, LATER) },
  { name: 'no text at all', change: () => '' },
])('$name opens nothing', ({ change }) => {
  expect(seal.open(change(seal.seal({ state: 's' }, LATER)), NOON)).toBeUndefined();
});
