/** Export of a list that grows: pages of its rows, oldest first, as text. */
import type { ListRequest, Page } from '@holdfast/database/queries/list-rows.js';
import type { Sql } from '@holdfast/database/sql/scope.js';
import { z } from 'zod';
import type { Tenant } from './tenant.js';

const PAGE = 500;
/** An organization that makes ten changes a second fills this in three hours. */
const EXPORTED_MAX = 100_000;

export type LinesExport = {
  readonly format: 'ndjson' | 'csv';
  readonly filter?: string | undefined;
  readonly after: number;
  readonly limit: number;
};

/** @param what the exported rows, such as `Entries` */
export function exportQuery(what: string) {
  return z.object({
    format: z
      .enum(['ndjson', 'csv'])
      .default('ndjson')
      .describe('One JSON object a line, or CSV with a header.'),
    filter: z.string().optional().describe('As for the list.'),
    after: z.coerce
      .number()
      .int()
      .min(0)
      .default(0)
      .describe('Begins after the one of this id: the last one of the export before.'),
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(EXPORTED_MAX)
      .default(EXPORTED_MAX)
      .describe(`${what} at most.`),
  });
}

/** An exported list, and the format of its rows. */
export type Exported<Row, View> = {
  readonly list: (sql: Sql, request: ListRequest) => Promise<Page<Row>>;
  readonly view: (row: Row) => View;
  readonly columns: readonly (readonly [name: string, read: (view: View) => unknown])[];
};

/** @throws StorageFault `request.invalid` for an invalid filter: later it could only cut the answer off */
export async function requireExportable<Row, View>(
  tenant: Tenant,
  { list }: Exported<Row, View>,
  options: LinesExport,
): Promise<void> {
  await tenant.read((sql) => list(sql, { limit: 1, filter: filterOf(options) }));
}

function filterOf({ after, filter = '' }: LinesExport): string {
  // In parentheses: otherwise `after` would bound only the first part of `a OR b`.
  return [`id>${after}`, ...(filter.trim() === '' ? [] : [`(${filter})`])].join(' AND ');
}

/** One text for each page. Between pages it waits for a slow reader, without holding a connection. */
export async function* exportLines<Row, View>(
  tenant: Tenant,
  { list, view, columns }: Exported<Row, View>,
  options: LinesExport,
): AsyncGenerator<string> {
  const { format, limit } = options;
  const filter = filterOf(options);
  const lineOf = (one: View) =>
    format === 'ndjson'
      ? `${JSON.stringify(one)}\n`
      : `${columns.map(([, read]) => cell(read(one))).join(',')}\r\n`;
  let cursor: string | undefined;
  let left = limit;
  if (format === 'csv') yield `${columns.map(([name]) => name).join(',')}\r\n`;
  do {
    const request = { limit: Math.min(PAGE, left), filter, sort: 'id', cursor };
    const page = await tenant.read((sql) => list(sql, request));
    const lines = page.items.map((row) => lineOf(view(row)));
    if (lines.length > 0) yield lines.join('');
    left -= page.items.length;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined && left > 0 && !tenant.gone.aborted);
}

export function contentTypeOf({ format }: LinesExport): string {
  return format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson';
}

/** Quoted as RFC 4180 says. Spreadsheets parse a cell that begins with one of these as a formula; a quote makes it text. */
function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  const safe = typeof value === 'string' && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
