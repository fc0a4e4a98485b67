import { expect, test } from '@jest/globals';
import { StatementNames } from './statement-names.js';

test('a statement that comes again has a name, and keeps it', () => {
  const names = new StatementNames();
  expect(names.nameOf('SELECT 1')).toBeUndefined();
  expect(names.nameOf('SELECT 2')).toBeUndefined();
  const name = names.nameOf('SELECT 1');
  expect(name).toBe('s0');
  expect(names.nameOf('SELECT 2')).toBe('s1');
  expect(names.nameOf('SELECT 1')).toBe(name);
});

test.each(['COMMIT', 'SELECT 1; SELECT 2', 'LISTEN events', 'SET LOCAL x = 1'])('%s has none', (text) => {
  const names = new StatementNames();
  names.nameOf(text);
  expect(names.nameOf(text)).toBeUndefined();
});

test('so many different ones come once that none is remembered for ever, and no more than a bound have names', () => {
  const names = new StatementNames();
  for (let n = 0; n < 5_000; n += 1) expect(names.nameOf(`SELECT ${n}`)).toBeUndefined();
  expect(names.nameOf('SELECT 0')).toBeUndefined();
  const twice = Array.from({ length: 1_000 }, (_, n) => {
    names.nameOf(`UPDATE t SET a = ${n}`);
    return names.nameOf(`UPDATE t SET a = ${n}`);
  });
  expect(new Set(twice).size).toBe(501);
});
