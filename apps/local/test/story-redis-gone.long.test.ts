/** Redis is gone for a while. What is asked for meanwhile waits in Postgres, and is done when Redis is there again, empty. */
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { LocalStack } from '@holdfast/testkit/local-stack.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import { startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

/** Longer than Postgres lets the relay's transaction stand idle, which waits for Redis with the rows in it. */
const GONE_MS = 20_000;

type Volume = { id: string; name: string; state: string };

const withRedis = hasRedis() ? describe : describe.skip;

withRedis('while Redis is gone', () => {
  let database: TestDatabase;
  let redis: RedisServer;
  let stack: LocalStack;
  let owner: Pool;

  beforeAll(async () => {
    [database, redis] = await Promise.all([startTestDatabase(), startRedis()]);
    owner = createPool(database.ownerUrl, { connectionsMax: 1, applicationName: 'test' });
    const env = { DATABASE_URL: database.ownerUrl, REDIS_URL: redis.url };
    stack = await LocalStack.start({ env });
  });

  afterAll(async () => {
    await stack?.destroy();
    await owner?.end();
    await Promise.all([redis?.stop(), database?.stop()]);
  });

  const create = (name: string) =>
    stack.call<Volume>('POST', '/volumes', { name, size: 16 * 1024 * 1024, numberOfReplicas: 2 });
  const stateOf = async (name: string) => {
    const { body } = await stack.call<{ items: Volume[] }>('GET', '/volumes');
    return body.items.find((volume) => volume.name === name)?.state;
  };
  const until = (name: string, wanted: string) =>
    eventually(
      `${name} is ${wanted}`,
      () => stateOf(name),
      (state) => state === wanted,
    );
  const waiting = async () => {
    const { rows } = await owner.query<{ count: number }>('SELECT count(*)::int AS count FROM outbox');
    return rows[0]?.count ?? 0;
  };

  test('the api answers, what it takes is kept, and the same worker does it once Redis is back', async () => {
    const { body: before } = await create('before');
    await until('before', 'detached');
    const { worker } = stack.local.processes;
    await redis.end();
    const goneAtMs = Date.now();

    expect((await create('meanwhile')).status).toBe(201);
    expect((await stack.call('POST', `/volumes/${before.id}/attach`, {})).status).toBeLessThan(300);
    while (Date.now() - goneAtMs < GONE_MS) {
      expect(await stateOf('meanwhile')).toBe('creating');
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect((await create('late')).status).toBe(201);
    expect(await waiting()).toBeGreaterThan(0);

    await redis.begin();
    await until('meanwhile', 'detached');
    await until('late', 'detached');
    await until('before', 'attached');
    await eventually('the outbox is empty', waiting, (count) => count === 0);
    expect(stack.local.processes.worker).toBe(worker);
  });
});
