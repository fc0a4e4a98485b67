/** A client of the tables' owner that is a superuser, as the embedded Postgres has one. */
type Owner = { query<Row>(text: string, values?: unknown[]): Promise<{ rows: Row[] }> };

/** All tables with rows that belong to rows of the named ones, at any distance, and these. */
const WITH_REFERRERS = `
  WITH RECURSIVE found (id) AS (
    SELECT unnest($1::regclass[])::oid
    UNION
    SELECT conrelid FROM pg_constraint JOIN found ON confrelid = found.id WHERE contype = 'f'
  )
  SELECT id::regclass::text AS name FROM found ORDER BY 1`;

/**
 * Empties the tables and all that refer to them, as `TRUNCATE … CASCADE` does, by deleting rows: between tests there are few,
 * and TRUNCATE makes new files for each table and each index, full or empty, which took most of a test's time.
 */
export async function emptyTables(owner: Owner, tables: readonly string[]): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(WITH_REFERRERS, [tables]);
  const deletions = rows.map(({ name }) => `DELETE FROM ${name};`);
  // `replica`: no foreign key demands an order, and no trigger refuses or counts the rows that a test throws away.
  await owner.query(`BEGIN; SET LOCAL session_replication_role = replica; ${deletions.join(' ')} COMMIT`);
}
