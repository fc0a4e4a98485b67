import { fingerprintOf } from '@holdfast/identity/certificate.js';
import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, type Pool } from '../sql/pool.js';
import { systemScope, transaction } from '../sql/scope.js';
import { ensureAuthorities, rotateAuthority } from './authorities.js';

let database: TestDatabase;
const pools: Pool[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
  for (const url of [database.systemUrl, database.apiUrl])
    pools.push(createPool(url, { connectionsMax: 4, applicationName: 'test' }));
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database?.stop();
});

function scopeOf(index: number) {
  const pool = pools[index];
  if (pool === undefined) throw new Error('the pools are open');
  return systemScope(pool);
}

test('of processes that start at once one makes the authority, and a rotation adds one more', async () => {
  const now = new Date();
  const starts = await Promise.all(Array.from({ length: 4 }, () => ensureAuthorities(scopeOf(0), now)));
  const made = starts.map(([authority]) => fingerprintOf(authority?.certificatePem ?? ''));
  expect([new Set(made).size, ...starts.map(({ length }) => length)]).toEqual([1, 1, 1, 1, 1]);
  expect(await rotateAuthority(scopeOf(0), now)).toHaveLength(2);
  expect(await ensureAuthorities(scopeOf(0), now)).toHaveLength(2);
});

test('the role that answers tenants can not read its key', async () => {
  const read = transaction(scopeOf(1), (sql) => sql.query('SELECT key FROM authority'));
  await expect(read).rejects.toThrow(/permission denied/);
});
