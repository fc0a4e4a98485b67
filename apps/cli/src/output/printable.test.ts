import { expect, test } from '@jest/globals';
import { cellText, printable } from './printable.js';
import { renderTable } from './table.js';

test.each([
  ['plain text with\ttabs and\nlines', 'plain text with\ttabs and\nlines'],
  ['clears the screen: \u001b[2J', 'clears the screen: \\u001b[2J'],
  ['a title \u001b]0;root@host\u0007', 'a title \\u001b]0;root@host\\u0007'],
  ['eight bits \u009b2J', 'eight bits \\u009b2J'],
  ['back\u0008space\r', 'back\\u0008space\\u000d'],
  ['turned \u202etxt.exe', 'turned \\u202etxt.exe'],
  ['\u001b[32mgreen\u001b[39m', '\u001b[32mgreen\u001b[39m'],
])('of %j a terminal shows %j', (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test('what is escaped in JSON reads as it was', () => {
  const value = { name: 'a\u009b2J\u202eb' };
  expect(JSON.parse(printable(JSON.stringify(value)))).toEqual(value);
});

test('a cell keeps to its row and its column, whatever it holds', () => {
  expect(cellText('two\nlines')).toBe('two\\u000alines');
  const columns = [{ header: 'name', cell: ({ name }: { name: string }) => name }];
  const table = renderTable([{ name: 'a\nfake  row\u001b[31m' }], columns, {
    wide: false,
    headers: false,
    color: false,
  });
  expect(table).toBe('a\\u000afake  row\\u001b[31m');
});
