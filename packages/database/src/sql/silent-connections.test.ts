import { BlackholeProxy } from '@holdfast/testkit/blackhole-proxy.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Listener } from './listener.js';
import { createPool, type Pool } from './pool.js';
import { systemScope, transaction } from './scope.js';

const STATEMENT_MS_MAX = 1_000;

let database: TestDatabase;
let proxy: BlackholeProxy;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
});
beforeEach(async () => {
  proxy = await BlackholeProxy.to(Number(new URL(database.ownerUrl).port));
  pool = createPool(proxy.onWayTo(database.systemUrl), {
    connectionsMax: 3,
    applicationName: 'silent',
    statementMsMax: STATEMENT_MS_MAX,
  });
});
afterEach(async () => {
  await pool.end();
  await proxy.close();
});
afterAll(() => database?.stop());

const ask = (text: string) => transaction(systemScope(pool), (sql) => sql.query(text));

test('a statement that is never answered ends with its connection, and with it go those that are idle', async () => {
  await Promise.all([ask('SELECT pg_sleep(0.1)'), ask('SELECT pg_sleep(0.1)'), ask('SELECT pg_sleep(0.1)')]);
  expect(pool.idleCount).toBe(3);
  proxy.cut();
  await expect(ask('SELECT 1')).rejects.toMatchObject({ code: 'store.unavailable' });
  await eventually(
    'no connection is kept',
    () => pool.totalCount,
    (count) => count === 0,
  );
  proxy.mend();
  expect(await ask('SELECT 1')).toMatchObject({ rowCount: 1 });
});

test('a connection that works for longer, statement after statement, is kept', async () => {
  const isSame = await transaction(systemScope(pool), async (sql) => {
    const pidOf = async () =>
      (await sql.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')).rows[0]?.pid;
    const before = await pidOf();
    for (let n = 0; n < 6; n += 1) await sql.query('SELECT pg_sleep(0.8)');
    return before === (await pidOf());
  });
  expect(isSame).toBe(true);
});

test('what takes long in Postgres is ended there, and its connection stays', async () => {
  await expect(ask('SELECT pg_sleep(60)')).rejects.toMatchObject({ code: 'store.unavailable' });
  expect(pool.idleCount).toBe(1);
});

test('a listener that was taken and never answered tries again', async () => {
  proxy.cut();
  const listener = new Listener({
    url: proxy.onWayTo(database.systemUrl),
    applicationName: 'silent-listener',
    channels: ['silent'],
    onNotification: () => undefined,
    onConnected: () => undefined,
    onTrouble: () => undefined,
  });
  // Its connection has begun, and stays cut.
  await eventually(
    'it has connected',
    () => proxy.connections,
    (count) => count === 1,
  );
  proxy.mend();
  await eventually(
    'it listens',
    () => listener.isConnected,
    (isConnected) => isConnected,
  );
  await listener.stop();
});
