import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool } from './pool.js';
import { queryUnscoped, type Sql, snapshot, systemScope, transaction, unsyncedTransaction } from './scope.js';

let database: TestDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  // As it is outside of tests, whose databases wait for no disk.
  const url = new URL(database.systemUrl);
  url.searchParams.set('options', '-c synchronous_commit=on');
  pool = createPool(url.href, { connectionsMax: 1, applicationName: 'scope' });
});

afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

test('only a transaction that may be lost does not wait for the disk, and the next on its connection does', async () => {
  const scope = systemScope(pool);
  const waits = async (sql: Sql) =>
    (await sql.query<{ synchronous_commit: string }>('SHOW synchronous_commit')).rows[0]?.synchronous_commit;
  expect(await unsyncedTransaction(scope, waits)).toBe('off');
  expect(await transaction(scope, waits)).toBe('on');
  expect(await snapshot(scope, waits)).toBe('on');
});

test('statements of pages are planned once for all values, and those that come next on their connection as Postgres chooses', async () => {
  const planned = async (sql: Sql) =>
    (await sql.query<{ plan_cache_mode: string }>('SHOW plan_cache_mode')).rows[0]?.plan_cache_mode;
  expect(await snapshot({ ...systemScope(pool), plans: 'general' }, planned)).toBe('force_generic_plan');
  expect(await snapshot(systemScope(pool), planned)).toBe('auto');
});

test('a column that a migration adds ends no transaction of a connection that knows the table without it', async () => {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query(
    'CREATE TABLE grows (id int); GRANT SELECT ON grows TO PUBLIC; INSERT INTO grows VALUES (1)',
  );
  const two = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'scope' });
  const ask = () =>
    transaction(systemScope(two), async (sql) => (await sql.query('SELECT * FROM grows')).rows);
  // Both connections: each has the plan after the second execution.
  for (let n = 0; n < 4; n += 1) await Promise.all([ask(), ask()]);
  await owner.query('ALTER TABLE grows ADD COLUMN added int');
  const rows = await Promise.all([ask(), ask(), ask()]);
  expect(rows).toEqual(Array(3).fill([{ id: 1, added: null }]));
  await owner.query('DROP TABLE grows');
  await owner.end();
  await two.end();
});

test('a statement outside of transactions is answered after a migration added a column', async () => {
  const owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  await owner.query('CREATE TABLE widens (id int); GRANT SELECT ON widens TO PUBLIC');
  const ask = () => queryUnscoped(pool, 'SELECT * FROM widens', []);
  for (let n = 0; n < 3; n += 1) expect(await ask()).toEqual([]);
  await owner.query('ALTER TABLE widens ADD COLUMN added int; INSERT INTO widens VALUES (1)');
  expect(await ask()).toEqual([{ id: 1, added: null }]);
  await owner.query('DROP TABLE widens');
  await owner.end();
});

test('reads of a pipeline are snapshots, also after one that failed, and end before what comes next on their connection', async () => {
  const piped = createPool(database.systemUrl, {
    connectionsMax: 1,
    applicationName: 'scope',
    pipeline: true,
  });
  const isolation = async (sql: Sql) =>
    (await sql.query<{ transaction_isolation: string }>('SHOW transaction_isolation')).rows[0]
      ?.transaction_isolation;
  const scope = systemScope(piped);
  await expect(snapshot(scope, (sql) => sql.query('SELECT 1 / 0'))).rejects.toThrow('division by zero');
  expect(
    await Promise.all([
      snapshot(scope, isolation),
      snapshot(scope, isolation),
      transaction(scope, isolation),
      snapshot(scope, isolation),
    ]),
  ).toEqual(['repeatable read', 'repeatable read', 'read committed', 'repeatable read']);
  await piped.end();
});
