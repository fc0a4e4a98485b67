import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { anIdleVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { untilLockIsAwaited } from '@holdfast/testkit/lock-waits.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool, type Pool } from '../sql/pool.js';
import { type Sql, systemScope } from '../sql/scope.js';
import { listDueVolumes } from './due-volumes.js';
import { PostgresStore } from './postgres-store.js';

const VOLUME = asId<VolumeId>(testId(1));
let database: TestDatabase;
let pool: Pool;
let rival: pg.Client;
let store: PostgresStore;
let tenant: Awaited<ReturnType<typeof seedTestDatabase>>;

beforeAll(async () => {
  database = await startTestDatabase();
  tenant = await seedTestDatabase(database);
  pool = createPool(database.systemUrl, { connectionsMax: 4, applicationName: 'due-volumes' });
  rival = new pg.Client({ connectionString: database.ownerUrl });
  await rival.connect();
  store = new PostgresStore(systemScope(pool));
  const volume = anIdleVolume(tenant, { id: VOLUME });
  await store.commit({ kind: 'new' }, [{ kind: 'volume.create', volume }]);
});

afterAll(async () => {
  await rival?.end();
  await pool?.end();
  await database?.stop();
});

test('a mark that is being committed while a reconciler records the next time is not cleared', async () => {
  const view = await store.loadVolume(VOLUME);
  await rival.query('BEGIN');
  await rival.query('UPDATE volume SET reconcile_marks = reconcile_marks + 1 WHERE id = $1', [VOLUME]);
  const recording = store.recordDue(VOLUME, { at: undefined, ifMarks: view?.due.marks ?? -1 });
  await untilLockIsAwaited(database.ownerUrl, 'due-volumes');
  await rival.query('COMMIT');
  expect(await recording).toBe(false);
  expect((await store.loadVolume(VOLUME))?.due.at).toEqual(new Date(0));
});

test('two commits at once leave two marks', async () => {
  const marks = async () => (await store.loadVolume(VOLUME))?.due.marks ?? 0;
  const before = await marks();
  const touch = { kind: 'volume.patch' as const, volumeId: VOLUME, patch: { writtenBytes: 0 } };
  await Promise.all([store.commit({ kind: 'new' }, [touch]), store.commit({ kind: 'new' }, [touch])]);
  expect(await marks()).toBe(before + 2);
});

test('the sweep reads one range of the index, in its order', async () => {
  // A table of one row is read as a whole otherwise.
  await rival.query('SET enable_seqscan = off; SET enable_bitmapscan = off');
  let plan = '';
  const explaining: Sql = {
    async query(text, values = []) {
      const { rows } = await rival.query<{ 'QUERY PLAN': string }>(`EXPLAIN ${text}`, [...values]);
      plan = rows.map((row) => row['QUERY PLAN']).join('\n');
      return { rows: [], rowCount: 0 };
    },
  };
  await listDueVolumes(explaining, { now: NOON, limit: 500, after: { volumeId: VOLUME, at: NOON } });
  expect(plan).toMatch(/Index.* Scan using volume_reconcile_due_idx/);
  expect(plan).not.toContain('Sort');
});
