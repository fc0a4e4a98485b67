import fs from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { ACCOUNT_PLACES, ALL_PLACES, BEFORE_SIGN_IN, FOUND_BY_NAME } from './places';

const APP = path.join(import.meta.dirname, '../../app');

/** As its folder names it, without groups. */
const ROUTES = fs
  .readdirSync(APP, { recursive: true, encoding: 'utf8' })
  .filter((file) => path.basename(file) === 'page.tsx')
  .map((file) => `/${path.dirname(file).replace(/^\.$|\(console\)\/?/, '')}`)
  .sort();

test('every route is reached from the command menu, or by what leads to a sign-in', () => {
  const reached = [...ALL_PLACES.map(({ href }) => href), ...FOUND_BY_NAME, ...Object.keys(BEFORE_SIGN_IN)];
  expect([...new Set(reached)].sort()).toEqual(ROUTES);
});

test('no two places have one name', () => {
  const labels = ALL_PLACES.map(({ label }) => label);
  expect(new Set(labels).size).toBe(labels.length);
});

test('the menu of the account has the pages about the signed-in user', () => {
  expect(ACCOUNT_PLACES.map(({ label }) => label)).toEqual(['Tokens', 'Sessions', 'What may I do']);
});
