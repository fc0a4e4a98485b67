import { migrationNames } from '@holdfast/database/migrate.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OwnApi } from './own-api.js';

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin();
});
afterAll(() => api?.stop());

/** The answer once no check is late any more: each has two seconds, which a first connection may take on a busy machine. */
async function ask(url: string, from = api) {
  const late = /database/;
  return eventually(
    `${url} is answered without a late check of the database`,
    () => askOnce(url, from),
    ({ body }) => !late.test(String(body.detail)),
  );
}

async function askOnce(url: string, from: OwnApi) {
  const { statusCode: status, body } = await from.send({ url });
  return { status, body: JSON.parse(body) };
}

test.each([
  { path: '/livez', status: 'alive' },
  { path: '/readyz', status: 'ready' },
  { path: '/startupz', status: 'started' },
])('$path answers without a token', async ({ path, status }) => {
  expect(await ask(path)).toEqual({ status: 200, body: { status } });
});

test('lists its checks when they are asked for', async () => {
  expect(await ask('/livez?verbose')).toEqual({
    status: 200,
    body: { status: 'alive', checks: [{ name: 'process', status: 'ok' }] },
  });
  const names = ['database', 'database-of-agents', 'migrations', 'outbox'];
  expect(await ask('/readyz?verbose')).toEqual({
    status: 200,
    body: { status: 'ready', checks: names.map((name) => ({ name, status: 'ok' })) },
  });
});

describe('while a migration is not applied', () => {
  const applied = async (isApplied: boolean) => {
    const newest = (await migrationNames()).at(-1);
    await api.owner.query(
      `UPDATE _prisma_migrations SET finished_at = ${isApplied ? 'now()' : 'NULL'} WHERE migration_name = $1`,
      [newest],
    );
  };
  beforeAll(() => applied(false));
  afterAll(() => applied(true));

  test('no process is ready, and a problem names what failed', async () => {
    expect(await ask('/readyz')).toMatchObject({
      status: 503,
      body: { code: 'store.unavailable', detail: 'not ready: migrations', retryable: true },
    });
    const { status, body } = await ask('/readyz?verbose');
    expect([status, body.status]).toEqual([503, 'not ready']);
    expect(body.checks).toContainEqual({
      name: 'migrations',
      status: 'failed',
      detail: 'some are not applied',
    });
  });

  test('a process that begins has not started, and one that was ready has', async () => {
    const fresh = await OwnApi.beside(api);
    expect(await ask('/startupz', fresh)).toMatchObject({
      status: 503,
      body: { detail: 'starting: migrations' },
    });
    expect(await ask('/startupz?verbose')).toEqual({
      status: 200,
      body: { status: 'started', checks: [{ name: 'start', status: 'ok' }] },
    });
    await applied(true);
    expect((await ask('/startupz', fresh)).status).toBe(200);
    await applied(false);
    expect((await ask('/startupz', fresh)).status).toBe(200);
    await fresh.app.nest.close();
  });
});

test('is ready while changes wait for a worker, and says how long they do', async () => {
  await api.createVolume();
  const { rowCount } = await api.owner.query(`UPDATE outbox SET created_at = now() - interval '90 seconds'`);
  expect(rowCount).toBeGreaterThan(0);
  const { status, body } = await ask('/readyz?verbose');
  expect([status, body.status]).toEqual([200, 'ready']);
  expect(body.checks).toContainEqual({
    name: 'outbox',
    status: 'degraded',
    detail: expect.stringMatching(/^a change has waited for a worker for 9\d s$/),
  });
});
