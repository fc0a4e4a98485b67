/** The whole worker as a process would run it, on an embedded Postgres with its jobs there. */
import 'reflect-metadata';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NestFactory } from '@nestjs/core';
import { WorkerModule } from './worker.module.js';

let database: TestDatabase;
/** Closed in reverse order, whatever the test came to. */
const closing: (() => Promise<void>)[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
});

afterAll(async () => {
  for (const close of closing.reverse()) await close();
  await database?.stop();
});

describe('the worker', () => {
  test('turns what is written into work, marks a silent node, and stops cleanly', async () => {
    const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
    const pool = createPool(database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
    closing.push(() => pool.end());
    const store = new PostgresStore(systemScope(pool));
    const config = {
      databaseUrl: database.systemUrl,
      redisUrl: undefined,
      logLevel: 'silent',
      port: 0,
      host: '127.0.0.1',
      webhookNetworks: [],
    };
    const app = await NestFactory.createApplicationContext(WorkerModule.register(config), { logger: false });
    closing.push(() => app.close());

    const ready = async () => {
      const node = (await store.loadFleet(clusterId)).nodes[0];
      return node === undefined ? undefined : conditionOf(node.conditions, 'Ready')?.status;
    };
    await store.recordHeartbeat(clusterId, aHeartbeat('node-1'), new Date());
    await eventually('the node becomes ready', ready, (status) => status === 'True');
    const longAgo = new Date(Date.now() - 60_000);
    await store.recordHeartbeat(clusterId, aHeartbeat('node-2'), longAgo);
    await eventually(
      'the silent node is noticed',
      async () =>
        (await store.loadFleet(clusterId)).nodes
          .map(({ conditions }) => conditionOf(conditions, 'Ready')?.status)
          .sort(),
      (statuses) => statuses.join() === 'False,True',
    );

    const ports = { store, clock: systemClock, random: systemRandom };
    const owner = { organizationId, projectId, clusterId };
    const { volumeId } = await createVolume(ports, { ...owner, name: 'fits-nowhere', sizeBytes: GIB });
    const view = await eventually(
      'the volume leaves creating',
      () => store.loadVolume(volumeId),
      (found) => found?.volume.lifecycle.state === 'detached',
    );
    expect(conditionOf(view?.volume.conditions ?? [], 'Scheduled')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('node-2 is not ready'),
    });
  });
});
