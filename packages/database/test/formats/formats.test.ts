/**
 * Backups as earlier versions have written them, kept as files: each must be restored for as long as its form is supported, and is
 * brought up to date by the migrations since.
 *
 * HOLDFAST_WRITE_FORMATS=1 makes the file where there is none, of the schema of that version. A file is never replaced.
 */
import fs from 'node:fs';
import path from 'node:path';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FORMAT } from '../../src/backup/contents.js';
import { createBackup } from '../../src/backup/create-backup.js';
import { verifyBackup } from '../../src/backup/read-backup.js';
import { restoreBackup } from '../../src/backup/restore-backup.js';
import { knownMigrations, migrate } from '../../src/migrate.js';
import { prepareRoles } from '../../src/roles.js';
import { emptyDatabase, withClient } from '../more-databases.js';

const NOW = new Date('2026-12-01T00:00:00.000Z');
const VOLUME_ID = '01a20000-0000-7000-8000-000000000002';

/** Form, and the last migration that its version had: the one that the test of upgrades begins with. */
const FORMS = [{ format: 1, through: '20261126100000_capacity_history' }];
const fileOf = (format: number) => path.join(import.meta.dirname, `backup-${format}.gz`);

let database: TestDatabase;
let count = 0;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database?.stop());

test.each(FORMS)(
  'a backup of form $format with the schema of $through is restored, and brought up to date',
  async ({ format, through }) => {
    const file = fileOf(format);
    if (process.env.HOLDFAST_WRITE_FORMATS === '1' && !fs.existsSync(file)) await writeOld(file, through);
    const { header } = await verifyBackup(file);
    expect([header.format, header.migrations.at(-1)?.name]).toEqual([format, through]);

    const url = await newDatabase();
    const { migrations } = await restoreBackup(url, file, NOW);
    const since = (await knownMigrations()).map(({ name }) => name).filter((name) => name > through);
    expect(since.length).toBeGreaterThan(5);
    expect(migrations).toEqual(since);
    const rows = await withClient(url, (client) =>
      client.query(
        `SELECT v.id, v.name, v.size_bytes::int, v.number_of_replicas, v.restored_at, c.name AS cluster
         FROM volume v JOIN cluster c ON c.id = v.cluster_id`,
      ),
    );
    expect(rows.rows).toEqual([
      {
        id: VOLUME_ID,
        name: 'data',
        size_bytes: 1048576,
        number_of_replicas: 3,
        restored_at: NOW,
        cluster: 'local',
      },
    ]);
    const events = await withClient(url, (client) => client.query('SELECT type FROM event ORDER BY id'));
    expect(events.rows.map(({ type }) => type)).toEqual(['NodeReady', 'DatabaseRestored']);
    // It is like any database of today.
    expect(await migrate(url)).toEqual([]);
    await prepareRoles(url);
  },
);

test('a file is kept of the form that is written today', () => {
  expect(FORMS.map(({ format }) => format)).toContain(FORMAT);
});

async function writeOld(file: string, through: string): Promise<void> {
  const ownerUrl = await newDatabase();
  await migrate(ownerUrl, undefined, through);
  await seedTestDatabase(await prepareRoles(ownerUrl));
  await withClient(ownerUrl, async (owner) => {
    await owner.query(
      `INSERT INTO volume (id, organization_id, project_id, cluster_id, name, size_bytes, number_of_replicas, data_engine,
         data_locality, replica_soft_anti_affinity, replica_zone_soft_anti_affinity, replica_disk_soft_anti_affinity,
         replica_auto_balance, state, robustness, created_at)
       SELECT $1, p.organization_id, p.id, c.id, 'data', 1048576, 3, 'v1', 'disabled', 'ignored', 'ignored',
         'ignored', 'ignored', 'detached', 'healthy', '2026-11-26T00:00:00Z' FROM cluster c, project p LIMIT 1`,
      [VOLUME_ID],
    );
    await owner.query(
      `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
       SELECT organization_id, id, pg_current_xact_id()::text::bigint, 'NodeReady', 'info', 'node', 'n', 'node n is ready',
         '2026-11-26T00:00:00Z' FROM cluster`,
    );
  });
  await createBackup(ownerUrl, file);
}

function newDatabase(): Promise<string> {
  count += 1;
  return emptyDatabase(database.ownerUrl, `format_${count}`);
}
