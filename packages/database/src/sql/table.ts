import type pg from 'pg';
import type { Sql } from './scope.js';

/** One column: the field of the entity that it is stored from, and its value for a whole entity or a patch. */
export type Column<Entity> = {
  readonly name: string;
  readonly field: keyof Entity;
  valueOf(part: Partial<Entity>): unknown;
};

export type Table<Entity> = { readonly name: string; readonly columns: readonly Column<Entity>[] };

/** Makes the columns of one entity. Without a conversion a value is stored as it is, and undefined as null. */
export function columnsOf<Entity>() {
  return <Field extends keyof Entity>(
    field: Field,
    name: string,
    store: (value: Entity[Field]) => unknown = (value) => value ?? null,
  ): Column<Entity> => ({
    name,
    field,
    // Callers ask only for fields that the part has; its type can't say so.
    valueOf: (part) => store(part[field] as Entity[Field]),
  });
}

/** Stores a value in a JSON column. Dates become RFC 3339 texts, which the readers convert back. */
export function asJson(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value);
}

/** The columns to select, with the table's alias. */
export function selectList<Entity>(table: Table<Entity>, alias: string): string {
  return table.columns.map(({ name }) => `${alias}.${name}`).join(', ');
}

/**
 * Inserts a row that belongs to the organization of its parent row. Returns false when the parent is gone, or is
 * another organization's.
 */
export async function insertUnder<Entity>(
  sql: Sql,
  table: Table<Entity>,
  entity: Entity,
  parent: { table: string; id: string },
): Promise<boolean> {
  const names = table.columns.map(({ name }) => name);
  const values = table.columns.map((column) => column.valueOf(entity));
  const places = names.map((_, index) => `$${index + 2}`);
  const { rowCount } = await sql.query(
    `INSERT INTO ${table.name} (organization_id, ${names.join(', ')})
     SELECT parent.organization_id, ${places.join(', ')} FROM ${parent.table} parent WHERE parent.id = $1`,
    [parent.id, ...values],
  );
  return rowCount === 1;
}

/** An INSERT of several rows of one organization, to which conditions and RETURNING can be added. */
export function insertList<Entity>(
  table: Table<Entity>,
  organizationId: string,
  entities: readonly Entity[],
): { text: string; values: unknown[] } {
  const names = table.columns.map(({ name }) => name);
  const values: unknown[] = [organizationId];
  const rows = entities.map((entity) => {
    const places = table.columns.map((column) => `$${values.push(column.valueOf(entity))}`);
    return `($1, ${places.join(', ')})`;
  });
  const text = `INSERT INTO ${table.name} (organization_id, ${names.join(', ')}) VALUES ${rows.join(', ')}`;
  return { text, values };
}

export type PatchOptions = {
  /** False when this commit has counted the row's version up already; undefined for a table without versions. */
  bumpVersion: boolean | undefined;
  /** Further condition on the row, with `$2` as its value. */
  condition?: { text: string; value: unknown };
  returning: string;
};

/** Changes the fields that the patch has, even those that it has as undefined, and returns the row's `returning`. */
export async function patchRow<Entity, Row extends pg.QueryResultRow>(
  sql: Sql,
  table: Table<Entity>,
  id: string,
  patch: Partial<Entity>,
  options: PatchOptions,
): Promise<Row | undefined> {
  const columns = table.columns.filter(({ field }) => Object.hasOwn(patch, field));
  const sets = columns.map(({ name }, index) => `${name} = $${index + 3}`);
  if (options.bumpVersion !== undefined) sets.push(`version = version + ${options.bumpVersion ? 1 : 0}`);
  const { rows } = await sql.query<Row>(
    `UPDATE ${table.name} SET ${sets.join(', ')}
     WHERE id = $1 AND ${options.condition?.text ?? '$2::text IS NULL'} RETURNING ${options.returning}`,
    [id, options.condition?.value ?? null, ...columns.map((column) => column.valueOf(patch))],
  );
  return rows[0];
}
