import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  type Format,
  formatItem,
  formatList,
  type OutputOptions,
  parseFormat,
  wantsColor,
} from './format.js';
import type { Column } from './table.js';
import { loadYaml } from './yaml.js';

beforeAll(loadYaml);

type Fish = { name: string; length: number };
const FISH: Fish[] = [
  { name: 'cod', length: 120 },
  { name: 'anchovy', length: 9 },
];
const COLUMNS: Column<Fish>[] = [
  { header: 'name', cell: (fish) => fish.name, tone: (fish) => (fish.length > 100 ? 'good' : 'plain') },
  { header: 'length', cell: (fish) => String(fish.length), align: 'right' },
  { header: 'hidden', cell: () => 'x', wide: true },
];
const options = (output: Format, more: Partial<OutputOptions> = {}): OutputOptions => ({
  output,
  headers: true,
  color: false,
  ...more,
});

describe('formatList', () => {
  test('a table aligns its columns and leaves wide ones out', () => {
    expect(formatList(FISH, COLUMNS, options('table'))).toBe(
      ['NAME     LENGTH', 'cod         120', 'anchovy       9'].join('\n'),
    );
  });

  test('a table of nothing says so, and JSON is an empty list', () => {
    expect(formatList([], COLUMNS, options('table'))).toBe('none');
    expect(formatList([], COLUMNS, options('table', { headers: false }))).toBe('');
    expect(JSON.parse(formatList([], COLUMNS, options('json')))).toEqual({ items: [] });
  });

  test('wide shows every column', () => {
    expect(formatList(FISH, COLUMNS, options('wide'))).toContain('HIDDEN');
  });

  test('headers can be left out', () => {
    expect(formatList(FISH, COLUMNS, options('table', { headers: false }))).not.toContain('NAME');
  });

  test('colour does not count as width', () => {
    const plain = formatList(FISH, COLUMNS, options('table'));
    const colored = formatList(FISH, COLUMNS, options('table', { color: true }));
    expect(colored).not.toBe(plain);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: removes the escape sequences of colours
    expect(colored.replace(/\u001b\[\d+m/g, '')).toBe(plain);
  });

  test.each<{ format: Format; want: string }>([
    { format: 'json', want: JSON.stringify({ items: FISH }, null, 2) },
    { format: 'jsonl', want: FISH.map((fish) => JSON.stringify(fish)).join('\n') },
    { format: 'name', want: 'cod\nanchovy' },
  ])('$format is the objects themselves', ({ format, want }) => {
    expect(formatList(FISH, COLUMNS, options(format))).toBe(want);
  });
});

test('formatItem: text for users, the object for scripts', () => {
  const [cod] = FISH;
  if (cod === undefined) throw new Error('no fish');
  expect(formatItem(cod, () => 'a large cod', options('table'))).toBe('a large cod');
  expect(formatItem(cod, () => 'a large cod', options('yaml'))).toBe('name: cod\nlength: 120');
  expect(formatItem(cod, () => 'a large cod', options('name'))).toBe('cod');
});

test('parseFormat refuses what it does not know', () => {
  expect(parseFormat('yaml')).toBe('yaml');
  expect(() => parseFormat('xml')).toThrow(/no output format xml/);
});

test.each([
  { env: {}, terminal: true, want: true },
  { env: {}, terminal: false, want: false },
  { env: { NO_COLOR: '1' }, terminal: true, want: false },
  { env: { NO_COLOR: '' }, terminal: true, want: true },
  { env: { TERM: 'dumb' }, terminal: true, want: false },
])('wantsColor: $env on a terminal ($terminal) is $want', ({ env, terminal, want }) => {
  expect(wantsColor(env, terminal)).toBe(want);
});
