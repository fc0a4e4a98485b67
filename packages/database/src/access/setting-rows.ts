/** Rows of a cluster's settings, as they are changed. */
import type { SettingChange, StoredSettings } from '@holdfast/control/ports/access-store.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import type { Sql } from '../sql/scope.js';
import { asJson } from '../sql/table.js';
import { insertEvent } from '../store/events.js';
import { storeFanOut } from '../store/fan-out.js';
import { WakeUpSet, writeOutbox } from '../store/wake-up-set.js';

/**
 * Locks the cluster's settings. The settings version counts up first, which also waits for bookings that were made under the old
 * settings.
 */
export async function lockSettings(sql: Sql, clusterId: ClusterId): Promise<StoredSettings | undefined> {
  const { rows } = await sql.query<{ version: number }>(
    'UPDATE cluster SET settings_version = settings_version + 1 WHERE id = $1 RETURNING settings_version - 1 AS version',
    [clusterId],
  );
  const [found] = rows;
  if (found === undefined) return undefined;
  // In a statement after that one: it sees what the change before has stored.
  const stored = await sql.query<{ name: string; value: unknown }>(
    'SELECT name, value FROM setting WHERE cluster_id = $1',
    [clusterId],
  );
  return {
    version: found.version,
    overrides: Object.fromEntries(stored.rows.map(({ name, value }) => [name, value])),
  };
}

export async function storeSetting(sql: Sql, clusterId: ClusterId, change: SettingChange): Promise<void> {
  const { name, value, at, events } = change;
  if (value === undefined) {
    await sql.query('DELETE FROM setting WHERE cluster_id = $1 AND name = $2', [clusterId, name]);
  } else {
    await sql.query(
      `INSERT INTO setting (cluster_id, name, organization_id, value, updated_at)
       SELECT id, $2, organization_id, $3, $4 FROM cluster WHERE id = $1
       ON CONFLICT (cluster_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      [clusterId, name, asJson(value), at],
    );
  }
  for (const event of events) await insertEvent(sql, event);
  await storeFanOut(sql, clusterId, { kind: 'cluster', id: clusterId });
  const wakeUps = new WakeUpSet();
  wakeUps.cluster(clusterId);
  await writeOutbox(sql, wakeUps);
}
