import { createHash } from 'node:crypto';
import type { Sql } from '../sql/scope.js';
import { type FieldType, invalidQuery, type ListField, type ListFields, parseFilter } from './filter.js';

/** What a list request may say; all of it was text in a query string. */
export type ListRequest = {
  limit: number;
  cursor?: string | undefined;
  filter?: string | undefined;
  sort?: string | undefined;
};

export type Page<Item> = {
  items: Item[];
  /** One for each item: a list that continues after it. */
  cursors: string[];
  /** The last one, when there is more. */
  nextCursor: string | null;
};

/** The same page with each item turned into something else. */
export function mapPage<From, To>(page: Page<From>, convert: (item: From) => To): Page<To> {
  return { ...page, items: page.items.map(convert) };
}

export type ListSource = {
  columns: string;
  /** Tables and joins, without WHERE. */
  from: string;
  /** The row's unique key: the last sort key, so that pages neither repeat nor skip a row. */
  key: ListField;
  fields: ListFields;
  /** As in `sort`: a field name, with a minus for descending. */
  defaultSort: string;
  /** Conditions that always hold, with `$1`, `$2` … for their values. */
  where: { text: string; values: readonly unknown[] };
};

const SQL_TYPE: Record<FieldType, string> = {
  text: 'text',
  id: 'uuid',
  number: 'numeric',
  time: 'timestamptz',
  boolean: 'boolean',
};

/** Where a row stands in the list. */
type Position = { list_value: string; list_key: string };
type Order = { field: ListField; descending: boolean };
/** Where the last page ended, and for which filter and order: a cursor of another list would skip rows. */
type Cursor = { after: [string, string]; of: string };

/**
 * One page of a list. Pages continue after the last row's sort value and key, so rows that come or go in between do
 * not shift the others.
 */
export async function listRows<Row extends Record<string, unknown>>(
  sql: Sql,
  source: ListSource,
  request: ListRequest,
): Promise<Page<Row>> {
  const sort = request.sort ?? source.defaultSort;
  const order = parseSort(sort, source.fields);
  const fingerprint = fingerprintOf([sort, request.filter ?? '', source.from, ...source.where.values]);
  const values: unknown[] = [...source.where.values];
  const place = (value: unknown) => `$${values.push(value)}`;
  const conditions = [source.where.text];
  for (const { field, operator, value } of parseFilter(request.filter ?? '', source.fields)) {
    // `!=` also finds rows that have no value at all, which is what users mean by it.
    const sqlOperator = operator === '!=' ? 'IS DISTINCT FROM' : operator;
    conditions.push(`${field.sql} ${sqlOperator} ${place(value)}::${SQL_TYPE[field.type]}`);
  }
  if (request.cursor !== undefined) {
    const [value, key] = readCursor(request.cursor, fingerprint);
    conditions.push(
      `(${order.field.sql}, ${source.key.sql}) ${order.descending ? '<' : '>'} ` +
        `(${place(value)}::${SQL_TYPE[order.field.type]}, ${place(key)}::${SQL_TYPE[source.key.type]})`,
    );
  }
  const direction = order.descending ? 'DESC' : 'ASC';
  const { rows } = await sql.query<Row & Position>(
    `SELECT ${source.columns}, (${order.field.sql})::text AS list_value, (${source.key.sql})::text AS list_key
     FROM ${source.from} WHERE ${conditions.join(' AND ')}
     ORDER BY ${order.field.sql} ${direction}, ${source.key.sql} ${direction}
     LIMIT ${place(request.limit + 1)}`,
    values,
  );
  const items = rows.slice(0, request.limit);
  const cursors = items.map((row) => cursorOf(row, fingerprint));
  return { items, cursors, nextCursor: rows.length > items.length ? (cursors.at(-1) ?? null) : null };
}

function parseSort(sort: string, fields: ListFields): Order {
  const descending = sort.startsWith('-');
  const name = descending ? sort.slice(1) : sort;
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field === undefined) {
    throw invalidQuery('sort', `has no field ${name}; there are ${Object.keys(fields).join(', ')}`);
  }
  return { field, descending };
}

function cursorOf(row: Position, of: string): string {
  const cursor: Cursor = { after: [row.list_value, row.list_key], of };
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(text: string, fingerprint: string): [string, string] {
  const cursor = parseCursor(text);
  if (cursor === undefined || cursor.of !== fingerprint) {
    throw invalidQuery('cursor', 'belongs to another list, filter or order; start again without it');
  }
  return cursor.after;
}

function parseCursor(text: string): Cursor | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    return isCursor(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isCursor(value: unknown): value is Cursor {
  if (typeof value !== 'object' || value === null || !('after' in value) || !('of' in value)) return false;
  const { after, of } = value;
  return (
    Array.isArray(after) &&
    after.length === 2 &&
    after.every((part) => typeof part === 'string') &&
    typeof of === 'string'
  );
}

function fingerprintOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);
}
