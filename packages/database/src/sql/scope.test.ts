import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type pg from 'pg';
import { createPool } from './pool.js';
import { type Sql, snapshot, systemScope, transaction, unsyncedTransaction } from './scope.js';

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
