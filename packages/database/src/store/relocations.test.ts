import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { RELOCATING } from './load-views.js';

const REPLICAS = 50_000;

let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await startTestDatabase();
  const { organizationId } = await seedTestDatabase(database);
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  // Rows without their volumes: only how they are found matters.
  await owner.query('SET session_replication_role = replica');
  await owner.query(
    `INSERT INTO replica (id, organization_id, volume_id, size_bytes, intent, secret, created_at)
     SELECT gen_random_uuid(), $1, gen_random_uuid(), 4096, 'keep', 'secret', now() FROM generate_series(1, $2::int)`,
    [organizationId, REPLICAS],
  );
});

afterAll(async () => {
  await owner?.end();
  await database?.stop();
});

// Each view of a volume reads them, so every step of every volume would pay for a scan of all replicas.
test('relocations are found by their index, before Postgres has statistics of replicas too', async () => {
  const plan = async () => {
    const { rows } = await owner.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${RELOCATING}`);
    return rows.map((row) => row['QUERY PLAN']).join('\n');
  };
  expect(await plan()).toContain('Index Scan using replica_relocation_idx');
  await owner.query('ANALYZE replica');
  expect(await plan()).toContain('Index Scan using replica_relocation_idx');
});
