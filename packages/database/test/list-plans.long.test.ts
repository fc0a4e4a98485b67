/** Lists are read by an index in their order: a page costs what is on it, however many rows there are. */
import { randomUUID } from 'node:crypto';
import { asId, type ClusterId } from '@holdfast/core/model/ids.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { listAlerts, listSilences } from '../src/queries/alerts.js';
import { type EventSource, readEventsAfter } from '../src/queries/events.js';
import { listStampedVolumes, listVolumes } from '../src/queries/volumes.js';
import { listDeliveries } from '../src/queries/webhooks.js';
import type { Sql } from '../src/sql/scope.js';
import { makeHistory } from './large-cluster.js';

let database: TestDatabase;
let owner: pg.Client;
let clusterId: ClusterId;

beforeAll(async () => {
  database = await startTestDatabase();
  const seed = await seedTestDatabase(database);
  clusterId = seed.clusterId;
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(`SELECT set_config('holdfast.organization_id', $1, false)`, [seed.organizationId]);
  await owner.query(
    `INSERT INTO volume (id, organization_id, project_id, cluster_id, name, size_bytes, number_of_replicas, data_engine,
       data_locality, replica_soft_anti_affinity, replica_zone_soft_anti_affinity, replica_disk_soft_anti_affinity,
       replica_auto_balance, state, robustness, created_at)
     SELECT gen_random_uuid(), $1, $2, $3, 'v-' || n, 4096, 1, 'v1', 'disabled', 'ignored', 'ignored', 'ignored', 'ignored',
       'detached', 'healthy', now() FROM generate_series(1, 20000) n`,
    [seed.organizationId, seed.projectId, clusterId],
  );
  await owner.query(
    `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
     SELECT $1, $2::uuid, n, 'Tested', 'info', 'cluster', $2::text, '', now() FROM generate_series(1, 20000) n`,
    [seed.organizationId, clusterId],
  );
  await makeHistory(owner, clusterId);
  await owner.query('ANALYZE');
});
afterAll(async () => {
  await owner?.end();
  await database?.stop();
});

/** The plan of the first statement that the work makes. */
async function planOf(work: (sql: Sql) => Promise<unknown>): Promise<string> {
  const made: { text: string; values: readonly unknown[] }[] = [];
  await work({
    async query(text, values = []) {
      made.push({ text, values });
      return { rows: [], rowCount: 0 };
    },
  });
  const [first] = made;
  const { rows } = await owner.query(`EXPLAIN ${first?.text}`, [...(first?.values ?? [])]);
  return rows.map((row) => row['QUERY PLAN']).join('\n');
}

test.each([
  ['of a cluster', () => clusterId, 'volume_cluster_id_name_id_idx'],
  ['of all clusters', () => undefined, 'volume_organization_id_name_id_idx'],
])('a page of the volumes %s is read by name', async (_, of, index) => {
  const plan = await planOf((sql) => listVolumes(sql, of(), { limit: 50 }));
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/Seq Scan|Sort/);
  const stamped = await planOf((sql) => listStampedVolumes(sql, of(), { limit: 50 }));
  // The page itself comes first; the copies of its volumes are sorted.
  const page = stamped.slice(stamped.indexOf('CTE page'));
  expect(page).toContain(index);
  expect(page.slice(0, page.indexOf(index))).not.toMatch(/Seq Scan|Sort/);
});

test.each<[string, (sql: Sql) => Promise<unknown>, string]>([
  ['the alerts', (sql) => listAlerts(sql, clusterId, { limit: 50 }), 'alert_cluster_id_since_id_idx'],
  ['the silences', (sql) => listSilences(sql, clusterId, { limit: 50 }), 'silence_cluster_id_ends_at_id_idx'],
  [
    "a webhook's deliveries",
    (sql) => listDeliveries(sql, asId(randomUUID()), { limit: 50 }),
    'webhook_delivery_webhook_id_created_at_id_idx',
  ],
])('a page of %s is read in its order', async (_, list, index) => {
  const plan = await planOf(list);
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/Seq Scan|Sort/);
});

test.each<[string, () => EventSource, string]>([
  ['of a cluster', () => ({ clusterId, filter: '' }), 'event_cluster_id_transaction_id_id_idx'],
  [
    'of all clusters',
    () => ({ clusterId: undefined, filter: '' }),
    'event_organization_id_transaction_id_id_idx',
  ],
  [
    'with a filter',
    () => ({ clusterId, filter: 'severity=error' }),
    'event_cluster_id_transaction_id_id_idx',
  ],
])('a stream %s goes on from its place', async (_, source, index) => {
  const plan = await planOf((sql) => readEventsAfter(sql, source(), { transactionId: 19_000, id: 1 }, 200));
  expect(plan).toContain(index);
  expect(plan).not.toMatch(/Seq Scan on event|Sort/);
});

test('volumes of a label are found by its index, also as the role that row-level security holds', async () => {
  // A thousand of them: each label is a row that triggers write.
  await owner.query(
    `UPDATE volume SET labels = jsonb_build_object('team', 't-' || (length(name) * 7 + ascii(right(name, 1))) % 50, 'id', name)
     WHERE name LIKE 'v-7%'`,
  );
  await owner.query('ANALYZE');
  await owner.query('SET ROLE holdfast_api');
  const plan = await planOf((sql) => listVolumes(sql, clusterId, { limit: 50, filter: 'labels.id=v-777' }));
  await owner.query('RESET ROLE');
  expect(plan).toContain('object_label_organization_id_key_value_object_id_idx');
  expect(plan).toMatch(/Index Cond: .*key = 'id'.*value = 'v-777'/);
  expect(plan).not.toContain('Seq Scan on object_label');
});
