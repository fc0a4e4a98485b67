import { createHash } from 'node:crypto';
import {
  type Comparison,
  type FieldType,
  type FieldTypes,
  type Filter,
  type FilterValue,
  invalidQuery,
  labelKeyOf,
  parseFilter,
} from '@holdfast/core/listing/filter.js';
import { parseSort } from '@holdfast/core/listing/sort.js';
import { Bug } from '@holdfast/core/model/faults.js';
import pg from 'pg';
import type { Sql } from '../sql/scope.js';

/** Field by which a list may be filtered and sorted: its expression in SQL. Never null when sorted by. */
export type ListField =
  | { readonly sql: string; readonly type: Exclude<FieldType, 'ids'> }
  /** `sql` is the row's id, `idsWhere` a query for the ids of rows by the values that they have, up to its comparison with them. */
  | { readonly sql: string; readonly type: 'ids'; readonly idsWhere: string };
export type ListFields = Readonly<Record<string, ListField>>;
/** The places of fields that core names, each of its type. */
export type FieldsOf<Types extends FieldTypes> = {
  readonly [Name in keyof Types]: ListField & { readonly type: Types[Name] };
};

/** Parameters of a list request; all of them were text in a query string. */
export type ListRequest = {
  limit: number;
  cursor?: string | undefined;
  filter?: string | undefined;
  sort?: string | undefined;
  /** The total number of rows is requested too. */
  total?: boolean | undefined;
};

export type Page<Item> = {
  items: Item[];
  /** Makes a cursor for each item: a list that continues after it. Only GraphQL shows them, so they are not made ahead. */
  cursors: () => string[];
  /** The last one, when there is more. */
  nextCursor: string | null;
  /** Size of the whole list, if requested. */
  total?: ListTotal;
};

/** How many rows a list has. `isAtLeast`: it has more, which are not counted. */
export type ListTotal = { readonly count: number; readonly isAtLeast: boolean };

/** Counting reads every row that passes the filter: this many take some tenths of a second, and more tells a reader nothing new. */
export const COUNTED_MAX = 100_000;

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
  /** As in `sort`. */
  defaultSort: string;
  /** Conditions that always hold, with `$1`, `$2` … for their values. */
  where: { text: string; values: readonly unknown[] };
  /** Makes the statement of the page's own, whose rows it keeps in their order, each with its `list_position`. Left out: the page's own. */
  around?: (page: string) => string;
};

const SQL_TYPE: Record<FieldType, string> = {
  text: 'text',
  texts: 'text',
  id: 'uuid',
  ids: 'uuid',
  number: 'numeric',
  time: 'timestamptz',
  boolean: 'boolean',
  labels: 'text',
};

type Position = {
  /**
   * Position of a row in the list, as JSON: the values that it is sorted by, the unique key last. Read for cursors that are returned.
   */
  list_position: string;
  /** Of several lists in one statement: which one, and where in it. */
  list_index?: number;
  list_rank?: number;
};
type Order = { readonly field: ListField; readonly descending: boolean };
/** Where the last page ended, and for which filter and order: a cursor of another list would skip rows. */
type Cursor = { readonly after: readonly string[]; readonly of: string };

/**
 * One page of a list. Pages continue after the last row's sort value and key, so rows that come or go in between do
 * not shift the others.
 */
export function listRows<Row extends Record<string, unknown>>(
  sql: Sql,
  source: ListSource,
  request: ListRequest,
): Promise<Page<Row>> {
  return listItems<Row, Row>(sql, source, request, withoutPosition);
}

/**
 * As `listRows`, with each row read into an item at once.
 *
 * @param read picks its fields from the row, which also has columns for its position in the list
 */
export async function listItems<Row extends Record<string, unknown>, Item>(
  sql: Sql,
  source: ListSource,
  request: ListRequest,
  read: (row: Row & Position) => Item,
): Promise<Page<Item>> {
  const values: unknown[] = [];
  const { text, fingerprint } = statementOf(source, request, values);
  const rows = await rowsAt<Row>(sql, text, values, request);
  const page = pageOf(rows, request, fingerprint, read);
  return request.total === true ? { ...page, total: await totalOf(sql, source, request, rows.length) } : page;
}

/** @param read rows of this page, with the one behind it */
async function totalOf(sql: Sql, source: ListSource, request: ListRequest, read: number): Promise<ListTotal> {
  const isAll = request.cursor === undefined && read <= request.limit;
  if (isAll) return { count: read, isAtLeast: false };
  const values: unknown[] = [];
  const place = (value: unknown) => `$${values.push(value)}`;
  const { rows } = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM (SELECT FROM ${source.from}
       WHERE ${conditionsOf(source, request, place).join(' AND ')} LIMIT ${place(COUNTED_MAX + 1)}) counted`,
    values,
  );
  const count = rows[0]?.count ?? 0;
  return { count: Math.min(count, COUNTED_MAX), isAtLeast: count > COUNTED_MAX };
}

/**
 * The rows of a list's statement. A cursor is the caller's text: Postgres finds one that names its list but has an invalid value of a
 * sort field.
 *
 * @throws StorageFault `request.invalid`
 */
async function rowsAt<Row extends Record<string, unknown>>(
  sql: Sql,
  text: string,
  values: readonly unknown[],
  { cursor }: ListRequest,
): Promise<(Row & Position)[]> {
  try {
    return (await sql.query<Row & Position>(text, values)).rows;
  } catch (error) {
    if (cursor === undefined || !isOfData(error)) throw error;
    throw foreignCursor();
  }
}

/** Class 22 of Postgres' errors: a text that is no id, number or time, or holds NUL. */
function isOfData(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code?.startsWith('22') === true;
}

/** Lists in one statement: each is a part of it, with values of its own. */
export const LISTS_MAX = 200;

/**
 * The same page of several lists, such as the snapshots of each volume of a page, by one statement.
 *
 * @returns a page for each source, in their order
 */
export async function listRowsOfEach<Row extends Record<string, unknown>>(
  sql: Sql,
  sources: readonly ListSource[],
  request: ListRequest,
): Promise<Page<Row>[]> {
  if (sources.length === 0) return [];
  if (sources.length > LISTS_MAX) throw new Bug(`more than ${LISTS_MAX} lists were asked for at once`);
  const values: unknown[] = [];
  const parts = sources.map((source) => statementOf(source, request, values));
  const texts = parts.map(
    ({ text }, index) =>
      `SELECT ${index} AS list_index, row_number() OVER () AS list_rank, page.* FROM (${text}) page`,
  );
  const text = `${texts.join(' UNION ALL ')} ORDER BY list_index, list_rank`;
  const rows = await rowsAt<Row>(sql, text, values, request);
  return parts.map(({ fingerprint }, index) =>
    pageOf<Row, Row>(
      rows.filter(({ list_index }) => list_index === index),
      request,
      fingerprint,
      withoutPosition,
    ),
  );
}

/** Query of a page of lists: one list by its owner, or the list of each owner by one statement. */
export type Lists<Owner, Item> = {
  readonly page: (sql: Sql, owner: Owner, request: ListRequest) => Promise<Page<Item>>;
  readonly pageOfEach: (sql: Sql, owners: readonly Owner[], request: ListRequest) => Promise<Page<Item>[]>;
};

/** Lists of one kind, each of an owner: the snapshots of a volume, the nodes of a cluster. */
export function listsOf<Owner, Row extends Record<string, unknown>, Item>(
  sourceOf: (owner: Owner) => ListSource,
  read: (row: Row) => Item,
): Lists<Owner, Item> {
  return {
    page: async (sql, owner, request) => mapPage(await listRows<Row>(sql, sourceOf(owner), request), read),
    pageOfEach: async (sql, owners, request) => {
      const pages = await listRowsOfEach<Row>(sql, owners.map(sourceOf), request);
      return pages.map((page) => mapPage(page, read));
    },
  };
}

/** @param values of the statement, to which its own are added */
function statementOf(
  source: ListSource,
  request: ListRequest,
  values: unknown[],
): { text: string; fingerprint: string } {
  const sort = request.sort ?? source.defaultSort;
  const types = typesOf(source.fields);
  const order = orderOf(source, sort, types);
  const fingerprint = fingerprintOf([sort, request.filter ?? '', source.from, ...source.where.values]);
  const place = (value: unknown) => `$${values.push(value)}`;
  const conditions = [
    ...conditionsOf(source, request, place),
    ...(request.cursor === undefined
      ? []
      : [afterCursor(order, readCursor(request.cursor, fingerprint, order.length), place)]),
  ];
  const position = order.map(({ field }) => `(${field.sql})::text`).join(', ');
  const text = `SELECT ${source.columns}, array_to_json(ARRAY[${position}])::text AS list_position
     FROM ${source.from} WHERE ${conditions.join(' AND ')}
     ORDER BY ${order.map(({ field, descending }) => `${field.sql} ${descending ? 'DESC' : 'ASC'}`).join(', ')}
     LIMIT ${place(request.limit + 1)}`;
  return { text: source.around?.(text) ?? text, fingerprint };
}

/** Condition on every row of the list, on whichever page. */
function conditionsOf(source: ListSource, request: ListRequest, place: Place): string[] {
  const filter = parseFilter(request.filter ?? '', typesOf(source.fields));
  return [
    placed(source.where, place),
    ...(filter === undefined ? [] : [conditionOf(filter, source.fields, place)]),
  ];
}

/** The source's own conditions, whose `$1`, `$2` … become the places of their values in the statement. */
function placed({ text, values }: ListSource['where'], place: Place): string {
  const places = values.map(place);
  return text.replace(/\$(\d+)/g, (_, number: string) => places[Number(number) - 1] ?? '');
}

function pageOf<Row, Item>(
  rows: readonly (Row & Position)[],
  { limit }: ListRequest,
  fingerprint: string,
  read: (row: Row & Position) => Item,
): Page<Item> {
  const shown = rows.slice(0, limit);
  const positions = shown.map(({ list_position }) => list_position);
  const last = rows.length > shown.length ? positions.at(-1) : undefined;
  return {
    items: shown.map(read),
    cursors: () => positions.map((position) => cursorOf(position, fingerprint)),
    nextCursor: last === undefined ? null : cursorOf(last, fingerprint),
  };
}

/** The row without its position: views that pass their row on would show it to users. */
function withoutPosition<Row>(row: Row & Position): Row {
  const { list_position: _position, list_index: _index, list_rank: _rank, ...asked } = row;
  // The remaining columns are the row's own; none of them has this name.
  return asked as Row;
}

/** Of the fields of each kind of list, which are the same for every request. */
const knownTypes = new WeakMap<ListFields, FieldTypes>();

function typesOf(fields: ListFields): FieldTypes {
  const known = knownTypes.get(fields);
  if (known !== undefined) return known;
  const types = Object.fromEntries(Object.entries(fields).map(([name, { type }]) => [name, type]));
  knownTypes.set(fields, types);
  return types;
}

/** The key comes last, in the direction of the field before it: so one index gives both. */
function orderOf({ fields, key }: ListSource, sort: string, types: FieldTypes): Order[] {
  const order = parseSort(sort, types).map(({ field, descending }) => ({
    field: fieldOf(fields, field),
    descending,
  }));
  return [...order, { field: key, descending: order.at(-1)?.descending ?? false }];
}

function fieldOf(fields: ListFields, name: string): ListField {
  const field = fields[name];
  if (field === undefined) throw new Bug(`the list has no field ${name}`);
  return field;
}

type Place = (value: unknown) => string;

/**
 * The filter as a condition in SQL, whose values are added to `values`.
 *
 * @throws StorageFault `request.invalid`
 */
export function filterCondition(text: string, fields: ListFields, values: unknown[]): string {
  const filter = parseFilter(text, typesOf(fields));
  return filter === undefined ? 'true' : conditionOf(filter, fields, (value) => `$${values.push(value)}`);
}

/** Values are parameters, and names of fields are mapped to SQL in the source. */
function conditionOf(filter: Filter, fields: ListFields, place: Place): string {
  if (filter.kind !== 'comparison') {
    const parts = filter.parts.map((part) => conditionOf(part, fields, place));
    return `(${parts.join(filter.kind === 'and' ? ' AND ' : ' OR ')})`;
  }
  const { operator, values } = filter;
  const key = labelKeyOf(filter.field);
  if (key !== undefined) return labelCondition(filter, key, fieldOf(fields, 'labels').sql, place);
  const field = fieldOf(fields, filter.field);
  const { sql, type } = field;
  if (field.type === 'ids') {
    return `${sql} ${operator === '!=' ? 'NOT IN' : 'IN'} (${field.idsWhere} = ANY (${place([...values])}::uuid[]))`;
  }
  if (type === 'texts') return textsCondition(filter, sql, place);
  const [value = ''] = values;
  const one = (given: unknown) => `${place(given)}::${SQL_TYPE[type]}`;
  switch (operator) {
    case 'in':
      return `${sql} = ANY (${place([...values])}::${SQL_TYPE[type]}[])`;
    case 'prefix':
      return `starts_with(${sql}, ${one(value)})`;
    // These also find rows that have no value at all, which is what users mean by it.
    case 'not-prefix':
      return `starts_with(${sql}, ${one(value)}) IS NOT TRUE`;
    case '!=':
      return `${sql} IS DISTINCT FROM ${one(value)}`;
    default:
      return `${sql} ${operator} ${one(value)}`;
  }
}

/** Objects of whose texts one matches, or none. */
function textsCondition({ operator, values }: Comparison, column: string, place: Place): string {
  const isPrefix = operator === 'prefix' || operator === 'not-prefix';
  const one = isPrefix
    ? `EXISTS (SELECT FROM unnest(${column}) one WHERE starts_with(one, ${place(values[0])}::text))`
    : `${column} && ${place([...values])}::text[]`;
  return operator === '!=' || operator === 'not-prefix' ? `(${one}) IS NOT TRUE` : one;
}

/**
 * Objects by a label, from the table that has a row for each: its index answers under row-level security, which an index of JSON
 * can't.
 *
 * @param id column of the object's id
 */
function labelCondition({ operator, values }: Comparison, key: string, id: string, place: Place): string {
  const isNegative = operator === '!=' || operator === 'not-prefix';
  const [value = ''] = values;
  const wanted = [
    'l.organization_id = (SELECT current_organization_id())',
    `l.key = ${place(key)}`,
    ...labelValue(operator, value, values, place),
  ];
  return `${id} ${isNegative ? 'NOT IN' : 'IN'} (SELECT l.object_id FROM object_label l WHERE ${wanted.join(' AND ')})`;
}

function labelValue(
  operator: Comparison['operator'],
  value: FilterValue,
  values: readonly FilterValue[],
  place: Place,
): string[] {
  if (operator === 'in') return [`l.value = ANY (${place([...values])}::text[])`];
  if (operator === '=' || operator === '!=') return [`l.value = ${place(value)}`];
  // Every value has this prefix: the label exists.
  return value === '' ? [] : [`starts_with(l.value, ${place(value)})`];
}

/** Rows behind the position: by one comparison of rows where all fields go one way, which an index answers. */
function afterCursor(order: readonly Order[], after: readonly string[], place: Place): string {
  const typed = order.map(({ field }, index) => `${place(after[index])}::${SQL_TYPE[field.type]}`);
  const [first] = order;
  if (order.every(({ descending }) => descending === first?.descending)) {
    const left = order.map(({ field }) => field.sql).join(', ');
    return `(${left}) ${first?.descending === true ? '<' : '>'} (${typed.join(', ')})`;
  }
  const tiers = order.map(({ field, descending }, index) => {
    const equal = order.slice(0, index).map((before, at) => `${before.field.sql} = ${typed[at]}`);
    return `(${[...equal, `${field.sql} ${descending ? '<' : '>'} ${typed[index]}`].join(' AND ')})`;
  });
  return `(${tiers.join(' OR ')})`;
}

/** A {@link Cursor} as text. */
function cursorOf(position: string, of: string): string {
  return Buffer.from(`{"after":${position},"of":"${of}"}`).toString('base64url');
}

function readCursor(text: string, fingerprint: string, length: number): readonly string[] {
  const cursor = parseCursor(text);
  if (cursor === undefined || cursor.of !== fingerprint || cursor.after.length !== length) {
    throw foreignCursor();
  }
  return cursor.after;
}

function foreignCursor() {
  return invalidQuery('cursor', 'belongs to another list, filter or order; start again without it');
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
  return Array.isArray(after) && after.every((part) => typeof part === 'string') && typeof of === 'string';
}

function fingerprintOf(parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('base64url').slice(0, 12);
}
