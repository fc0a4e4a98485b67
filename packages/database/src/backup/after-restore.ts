/** Changes of restored rows before anything reads them, because they describe a past state. */
import type pg from 'pg';
import type { BackupHeader } from './contents.js';

const AUTO_DELETION = 'orphan-resource-auto-deletion';

/**
 * - Every volume is due, so that the reconcilers compare it with agents' reports, and no engine starts on a part of its copies: only
 * the absent ones may know the newest records.
 * - Requested reverts are given up: one may have been done since, and users may have written after it.
 * - Copies of volumes that were made since look like orphans, so no orphan is removed automatically until a user enables it again.
 * - Sessions end: some may have been ended since.
 * - The event log is ordered by transaction ids, and a new database begins with small ones.
 */
export async function afterRestore(client: pg.Client, header: BackupHeader, now: Date): Promise<void> {
  await client.query(
    'UPDATE volume SET reconcile_due_at = $1, reconcile_marks = reconcile_marks + 1, restored_at = $1',
    [now],
  );
  await client.query('DELETE FROM setting WHERE name = $1', [AUTO_DELETION]);
  await client.query('UPDATE cluster SET settings_version = settings_version + 1');
  await client.query(`DELETE FROM token WHERE kind = 'session'`);
  await moveEventLog(client, header);
  await tellClusters(client, header, now);
  await giveUpReverts(client, now);
}

/** Each gets an event, so that its operation counts as failed. */
async function giveUpReverts(client: pg.Client, now: Date): Promise<void> {
  await client.query(
    `WITH given_up AS (
       UPDATE volume SET layer_task = NULL WHERE layer_task ->> 'kind' = 'revert'
       RETURNING id, organization_id, cluster_id, name
     )
     INSERT INTO event (organization_id, cluster_id, volume_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
     SELECT organization_id, cluster_id, id, pg_current_xact_id()::text::bigint, 'VolumeTaskFailed', 'warning', 'volume', id::text,
       'the revert of volume ' || name || ' was given up: the database was restored from a backup, and it may have been done since', $1
     FROM given_up`,
    [now],
  );
}

/** Puts all stored ids below those that are given out from now on. */
async function moveEventLog(client: pg.Client, { nextTransactionId }: BackupHeader): Promise<void> {
  const { rows } = await client.query<{ own: string }>('SELECT pg_current_xact_id()::text AS own');
  const by = nextTransactionId - Number(rows[0]?.own ?? 0);
  if (by <= 0) return;
  for (const table of ['event', 'webhook', 'webhook_delivery']) {
    // Very old ones share the id 0; within it the order is that of the events' own numbers.
    await client.query(`UPDATE ${table} SET transaction_id = greatest(transaction_id - $1, 0)`, [by]);
  }
}

async function tellClusters(client: pg.Client, { takenAt }: BackupHeader, now: Date): Promise<void> {
  await client.query(
    `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
     SELECT organization_id, id, pg_current_xact_id()::text::bigint, 'DatabaseRestored', 'warning', 'cluster', id::text, $1, $2
     FROM cluster`,
    [`the control plane's database was restored from a backup of ${takenAt}`, now],
  );
}
