import type { FleetView } from '@holdfast/control/ports/store.js';
import type { ClusterId } from '@holdfast/core/model/ids.js';
import { aHeartbeat } from '@holdfast/testkit/builders.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool, type Pool } from '../sql/pool.js';
import { systemScope } from '../sql/scope.js';
import { noteListening } from './listening.js';
import { PostgresStore } from './postgres-store.js';

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;
let store: PostgresStore;
let clusterId: ClusterId;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  pool = createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'listening-test' });
  store = new PostgresStore(systemScope(pool));
  ({ clusterId } = await seedTestDatabase(database));
});

afterAll(async () => {
  await pool?.end();
  await owner?.end();
  await database?.stop();
});

beforeEach(() => owner.query('TRUNCATE cluster_listening'));

const note = () => noteListening(systemScope(pool));
const listening = async () => (await store.loadFleet(clusterId)).listening;
/** As if it had been noted that long ago. */
const age = (since: string, at: string) =>
  owner.query('UPDATE cluster_listening SET since = now() - $1::interval, at = now() - $2::interval', [
    since,
    at,
  ]);
const secondsAgo = (date: Date | undefined) => (Date.now() - (date?.getTime() ?? 0)) / 1000;

/** The clocks of this process and of Postgres are one machine's. */
function expectAgo(found: FleetView['listening'], want: { now: number; since: number }): void {
  expect(secondsAgo(found?.now)).toBeCloseTo(want.now, -0.5);
  expect(secondsAgo(found?.since)).toBeCloseTo(want.since, -0.5);
}

describe('what silence is judged by', () => {
  test('nothing before the first note', async () => {
    expect(await listening()).toBeUndefined();
    await note();
    expectAgo(await listening(), { now: 0, since: 0 });
  });

  test('listening goes on from note to note', async () => {
    await note();
    await age('60 s', '1 s');
    await note();
    expectAgo(await listening(), { now: 0, since: 60 });
  });

  test('while nothing notes, time stands still; then it begins anew', async () => {
    await note();
    await age('60 s', '20 s');
    expectAgo(await listening(), { now: 20, since: 60 });
    await note();
    expectAgo(await listening(), { now: 0, since: 0 });
  });

  test('after the clock was set back it begins anew', async () => {
    await note();
    await age('-3500 s', '-3600 s');
    await note();
    expectAgo(await listening(), { now: 0, since: 0 });
  });
});

describe('the stamp of a heartbeat', () => {
  const heardAt = async (name: string) =>
    (await store.loadFleet(clusterId)).nodes.find((node) => node.name === name)?.lastHeartbeatAt;

  test("is the database's time, whatever the recording machine thinks", async () => {
    await store.recordHeartbeat(clusterId, aHeartbeat('node-1'), new Date(Date.now() + 3_600_000));
    expect(secondsAgo(await heardAt('node-1'))).toBeCloseTo(0, -0.5);
    await store.recordHeartbeat(clusterId, aHeartbeat('node-2'));
    expect(secondsAgo(await heardAt('node-2'))).toBeCloseTo(0, -0.5);
  });

  test('from the future, left by an older version, goes with the next heartbeat', async () => {
    await store.recordHeartbeat(clusterId, aHeartbeat('node-3'));
    await owner.query("UPDATE node SET last_heartbeat_at = now() + interval '1 hour' WHERE name = 'node-3'");
    await store.recordHeartbeat(clusterId, aHeartbeat('node-3'));
    expect(secondsAgo(await heardAt('node-3'))).toBeCloseTo(0, -0.5);
  });
});
