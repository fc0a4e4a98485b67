import { CliError, EXIT } from '../exit-codes.js';
import { type Column, renderTable } from './table.js';
import { yamlText } from './yaml.js';

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
export type Format = (typeof FORMATS)[number];

export type OutputOptions = {
  output: Format;
  headers: boolean;
  color: boolean;
  /** Headers of the columns that tables show, in this order. Left out: those that are shown by default. */
  columns?: readonly string[];
};

/** Names of columns from an option: `name,state`. */
export function columnNames(text: string): string[] {
  return text
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}

export function parseFormat(text: string): Format {
  const format = FORMATS.find((known) => known === text);
  if (format === undefined)
    throw new CliError(EXIT.usage, `there is no output format ${text}`, [`use one of ${FORMATS.join(', ')}`]);
  return format;
}

export function isForPeople({ output }: OutputOptions): boolean {
  return output === 'table' || output === 'wide';
}

/** True where colour is wanted: at a terminal, unless the user has switched it off. */
export function wantsColor(env: NodeJS.ProcessEnv, isTerminal: boolean): boolean {
  return isTerminal && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** A list's output: a table as text, the API's own objects for scripts. */
export function formatList<T extends object>(
  items: readonly T[],
  columns: readonly Column<T>[],
  options: OutputOptions,
): string {
  switch (options.output) {
    case 'json':
      return JSON.stringify({ items }, null, 2);
    case 'jsonl':
      return items.map((item) => JSON.stringify(item)).join('\n');
    case 'yaml':
      return yamlText({ items });
    case 'name':
      return items.map(nameOf).join('\n');
    case 'table':
    case 'wide':
      // Headers above nothing leave open whether the rest was lost.
      if (items.length === 0) return options.headers ? 'none' : '';
      return renderTable(items, chosen(columns, options.columns), {
        wide: options.output === 'wide' || options.columns !== undefined,
        headers: options.headers,
        color: options.color,
      });
  }
}

/** @throws CliError that names the columns there are */
function chosen<T>(
  columns: readonly Column<T>[],
  names: readonly string[] | undefined,
): readonly Column<T>[] {
  if (names === undefined) return columns;
  return names.map((name) => {
    const found = columns.find(({ header }) => header.toLowerCase() === name);
    if (found !== undefined) return found;
    const known = columns.map(({ header }) => header).join(', ');
    throw new CliError(EXIT.usage, `there is no column ${name}`, [`there are ${known}`]);
  });
}

/** One object's output: `text`, or the API's own object for scripts. */
export function formatItem<T extends object>(item: T, text: () => string, options: OutputOptions): string {
  switch (options.output) {
    case 'json':
      return JSON.stringify(item, null, 2);
    case 'jsonl':
      return JSON.stringify(item);
    case 'yaml':
      return yamlText(item);
    case 'name':
      return nameOf(item);
    case 'table':
    case 'wide':
      return text();
  }
}

/** Output of `-o name` for one object: its name, else its id. */
function nameOf(item: object): string {
  if ('name' in item) return String(item.name);
  return 'id' in item ? String(item.id) : '';
}
