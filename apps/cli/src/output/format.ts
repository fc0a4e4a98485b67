import { stringify } from 'yaml';
import { CliError, EXIT } from '../exit-codes.js';
import { type Column, renderTable } from './table.js';

export const FORMATS = ['table', 'wide', 'json', 'jsonl', 'yaml', 'name'] as const;
export type Format = (typeof FORMATS)[number];

export type OutputOptions = { output: Format; headers: boolean; color: boolean };

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
      return stringify({ items }).trimEnd();
    case 'name':
      return items.map(nameOf).join('\n');
    case 'table':
    case 'wide':
      return renderTable(items, columns, {
        wide: options.output === 'wide',
        headers: options.headers,
        color: options.color,
      });
  }
}

/** One object's output: `text`, or the API's own object for scripts. */
export function formatItem<T extends object>(item: T, text: () => string, options: OutputOptions): string {
  switch (options.output) {
    case 'json':
      return JSON.stringify(item, null, 2);
    case 'jsonl':
      return JSON.stringify(item);
    case 'yaml':
      return stringify(item).trimEnd();
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
