import { createPool } from '@holdfast/database/sql/pool.js';
import { eventually } from './eventually.js';

/**
 * Resolves once some statement of the application waits for a lock. Read on a connection of its own: in a transaction Postgres always
 * shows the sessions of its first read, and a later one would never be seen to wait.
 */
export async function untilLockIsAwaited(url: string, applicationName: string): Promise<void> {
  const pool = createPool(url, { connectionsMax: 1, applicationName: 'lock-waits' });
  const waiting = `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`;
  const count = async () => (await pool.query(waiting, [applicationName])).rowCount ?? 0;
  await eventually(`a statement of ${applicationName} waits for a lock`, count, (rows) => rows > 0).finally(
    () => pool.end(),
  );
}
