import { assertVersion, hasToAct } from '@holdfast/control/use-cases/use-case.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { decideSetting } from '@holdfast/core/policy/decide-setting.js';
import { settingEvents } from '@holdfast/core/policy/setting-events.js';
import { parseSettingValue } from '@holdfast/core/settings/effective.js';
import type { Sql } from './sql/scope.js';
import { asJson } from './sql/table.js';
import { insertEvent } from './store/events.js';
import { storeFanOut } from './store/fan-out.js';
import { loadSettings } from './store/load-views.js';
import { WakeUpSet, writeOutbox } from './store/wake-up-set.js';

/**
 * Sets a cluster's setting, or with undefined goes back to its default. Returns false when there is no such cluster.
 *
 * The settings version counts up first, which also waits for bookings that were made under the old settings.
 *
 * @throws StorageFault `setting.not_found`, `setting.invalid`, `request.stale`
 */
export async function changeSetting(
  sql: Sql,
  clusterId: ClusterId,
  change: { name: string; value: unknown; now: Date; ifVersion?: number | undefined },
): Promise<boolean> {
  const value = change.value === undefined ? undefined : parseSettingValue(change.name, change.value);
  const { rows } = await sql.query<{ version: number }>(
    'UPDATE cluster SET settings_version = settings_version + 1 WHERE id = $1 RETURNING settings_version - 1 AS version',
    [clusterId],
  );
  const [found] = rows;
  if (found === undefined) return false;
  assertVersion(found.version, change.ifVersion);
  const before = (await loadSettings(sql, clusterId)).settings;
  if (value === undefined) {
    await sql.query('DELETE FROM setting WHERE cluster_id = $1 AND name = $2', [clusterId, change.name]);
  } else {
    await sql.query(
      `INSERT INTO setting (cluster_id, name, organization_id, value, updated_at)
       SELECT id, $2, organization_id, $3, $4 FROM cluster WHERE id = $1
       ON CONFLICT (cluster_id, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
      [clusterId, change.name, asJson(value), change.now],
    );
  }
  // The row of the cluster is locked by now, so no other change comes in between.
  const after = (await loadSettings(sql, clusterId)).settings;
  hasToAct(decideSetting(after, change.name));
  for (const event of settingEvents(clusterId, { before, after, at: change.now })) {
    await insertEvent(sql, event);
  }
  await storeFanOut(sql, clusterId, { kind: 'cluster', id: clusterId });
  const touched = new WakeUpSet();
  touched.cluster(clusterId);
  await writeOutbox(sql, touched);
  return true;
}
