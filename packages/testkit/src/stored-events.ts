import type { Sql } from '@holdfast/database/sql/scope.js';
import type { StoreUnderTest } from './store-under-test.js';

/** All events in Postgres by their types and those of their causes, the oldest first. */
export async function storedEvents(sql: Sql): ReturnType<StoreUnderTest['events']> {
  const { rows } = await sql.query<{ type: string; cause_type: string | null }>(
    'SELECT e.type, c.type AS cause_type FROM event e LEFT JOIN event c ON c.id = e.cause_id ORDER BY e.id',
  );
  return rows.map(({ type, cause_type }) => ({ type, causeType: cause_type ?? undefined }));
}
