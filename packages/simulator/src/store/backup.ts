/** Backup of the tables in memory, and a restore's changes to them: as `packages/database/src/backup` does with Postgres. */
import { DUE_AT_ONCE } from '@holdfast/control/ports/store.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { effectiveSettings } from '@holdfast/core/settings/effective.js';
import type { Tables } from './tables.js';

/** Rows by table, as they were at one moment. Events are left out: what watches a simulation has seen them. */
export type TablesBackup = ReadonlyMap<string, ReadonlyMap<unknown, unknown>>;

export function backupOf(tables: Tables): TablesBackup {
  return new Map(
    Object.entries(tables).flatMap(([name, rows]): [string, ReadonlyMap<unknown, unknown>][] =>
      rows instanceof Map ? [[name, new Map<unknown, unknown>(rows)]] : [],
    ),
  );
}

export function restoreTables(tables: Tables, backup: TablesBackup, now: Date): void {
  for (const [name, rows] of Object.entries(tables)) {
    if (!(rows instanceof Map)) continue;
    for (const key of [...rows.keys()]) rows.delete(key);
    for (const [key, row] of backup.get(name) ?? []) rows.set(key, row);
  }
  tables.outbox.splice(0);
  for (const [id, row] of tables.clusters) {
    const { 'orphan-resource-auto-deletion': _, ...overrides } = row.overrides;
    const settingsVersion = row.settingsVersion + 1;
    tables.clusters.set(id, { ...row, overrides, settings: effectiveSettings(overrides), settingsVersion });
    tell(tables, row.id, now);
  }
  for (const [id, volume] of tables.volumes) {
    // It may have been done since, and users may have written after it.
    const task = volume.task?.kind === 'revert' ? undefined : volume.task;
    tables.volumes.set(id, { ...volume, task, restoredAt: now });
    tables.dues.set(id, { at: DUE_AT_ONCE, marks: (tables.dues.get(id)?.marks ?? 0) + 1 });
  }
}

function tell({ events }: Tables, clusterId: ClusterId, at: Date): void {
  events.push({
    clusterId,
    type: 'DatabaseRestored',
    subject: { kind: 'cluster', id: clusterId },
    volumeId: undefined,
    message: "the control plane's database was restored from a backup",
    at,
  });
}
