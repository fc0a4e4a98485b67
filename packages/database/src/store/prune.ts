import { type Scope, transaction } from '../sql/scope.js';

const EVENTS_KEPT_DAYS = 30;
/** Expired tokens stay visible for a while, so that users see why something stopped working. */
const EXPIRED_TOKENS_KEPT_DAYS = 7;
/** Rows per run: a first run after a long pause must not hold locks for minutes. The next run takes the rest. */
const ROWS_MAX = 50_000;

/** Deletes rows that are too old to be asked for. The audit log is kept: no role may delete it. */
export async function pruneHistory(system: Scope, now: Date): Promise<{ events: number; tokens: number }> {
  const events = await transaction(system, (sql) =>
    sql.query(
      `DELETE FROM event WHERE id IN (
         SELECT id FROM event WHERE at < $1::timestamptz - interval '${EVENTS_KEPT_DAYS} days' ORDER BY id LIMIT $2)`,
      [now, ROWS_MAX],
    ),
  );
  const tokens = await transaction(system, (sql) =>
    sql.query(
      `DELETE FROM token WHERE id IN (
         SELECT id FROM token WHERE expires_at < $1::timestamptz - interval '${EXPIRED_TOKENS_KEPT_DAYS} days'
         ORDER BY id LIMIT $2)`,
      [now, ROWS_MAX],
    ),
  );
  return { events: events.rowCount, tokens: tokens.rowCount };
}
