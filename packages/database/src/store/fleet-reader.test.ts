import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { asId, type ClusterId, type DiskId, type OrganizationId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat, NOON, secondsAfterNoon, testId } from '@holdfast/testkit/builders.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import type pg from 'pg';
import { postgresAccess } from '../access/postgres-access.js';
import { createPool } from '../sql/pool.js';
import { systemScope, transaction } from '../sql/scope.js';
import { readFleetChanges } from './fleet-changes.js';
import { FleetReader } from './fleet-reader.js';
import { noteListening } from './listening.js';
import { loadFleetView } from './load-views.js';
import { PostgresStore } from './postgres-store.js';

let database: TestDatabase;
let pool: pg.Pool;
let clusterId: ClusterId;
let organizationId: OrganizationId;
let fleets: FleetReader;

beforeAll(async () => {
  database = await startTestDatabase();
  ({ clusterId, organizationId } = await seedTestDatabase(database));
  pool = createPool(database.systemUrl, { connectionsMax: 12, applicationName: 'fleet-reader' });
  await noteListening(systemScope(pool));
});

afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

beforeEach(() => {
  fleets = new FleetReader();
});

const DISKS = 12;

/** The kept fleet beside the whole one, both of one transaction. */
function readBoth() {
  return fleets.snapshot(systemScope(pool), async (sql, read) => {
    const kept = await read(clusterId);
    return { kept, whole: await loadFleetView(sql, clusterId) };
  });
}

test('a kept fleet is what the whole one is at the same moment, whatever changes meanwhile', async () => {
  const random = new SeededRandom(7);
  const differences: unknown[] = [];
  const reader = async () => {
    for (let round = 0; round < 60; round += 1) {
      const { kept, whole } = await readBoth();
      if (JSON.stringify(kept) !== JSON.stringify(whole)) differences.push({ kept, whole });
    }
  };
  const writer = async () => {
    // A disk that a heartbeat and a deletion fight for costs one of them its transaction.
    for (let round = 0; round < 60; round += 1) await changeSomething(random).catch(() => undefined);
  };
  await Promise.all([reader(), reader(), reader(), writer(), writer(), writer()]);
  expect(differences).toEqual([]);
  const { kept } = await readBoth();
  expect(kept.nodes.length).toBeGreaterThan(1);
  expect(kept.disks.length).toBeGreaterThan(1);
});

test('a fleet in which nothing has changed is the same one', async () => {
  const first = (await readBoth()).kept;
  await pool.query(`UPDATE node SET tags = '{"other"}' WHERE name = 'node-1'`);
  const { kept } = await readBoth();
  expect(kept.disks).toBe(first.disks);
  expect(kept.nodes).not.toBe(first.nodes);
});

test('a transaction that began before a change does not see it, although a later one has read it', async () => {
  // A transaction that stays open holds the horizon back: without one, what lies ahead of a snapshot would be noticed.
  const open = await pool.connect();
  await open.query('BEGIN; SELECT pg_current_xact_id()');
  await readBoth();
  let mayRead: () => void = () => undefined;
  const permission = new Promise<void>((resolve) => {
    mayRead = resolve;
  });
  const early = fleets.snapshot(systemScope(pool), async (sql, read) => {
    await sql.query('SELECT FROM node');
    await permission;
    const kept = await read(clusterId);
    return { kept, whole: await loadFleetView(sql, clusterId) };
  });
  await pool.query('SELECT pg_sleep(0.05)');
  await pool.query(`UPDATE node SET tags = '{"meanwhile"}'`);
  const late = readBoth();
  await Promise.race([late, pool.query('SELECT pg_sleep(0.2)')]);
  mayRead();
  const [before, after] = [await early, await late];
  await open.query('ROLLBACK');
  open.release();
  expect(before.kept).toEqual(before.whole);
  expect(after.kept).toEqual(after.whole);
  expect(after.kept.nodes[0]?.tags).toEqual(['meanwhile']);
});

test('what was read from another server, which was ahead of this one, is read as a whole', async () => {
  const { whole } = await readBoth();
  const ahead = { transactionId: String(2n ** 40n), settingsVersion: whole.settingsVersion };
  const { changes } = await transaction(systemScope(pool), (sql) => readFleetChanges(sql, clusterId, ahead));
  expect(changes.settings).toEqual(whole.settings);
  expect(changes.nodes).toHaveLength(whole.nodes.length);
});

test('work that fails, or reads no fleet, lets the next one begin', async () => {
  const scope = systemScope(pool);
  await expect(fleets.snapshot(scope, async () => Promise.reject(new Error('it failed')))).rejects.toThrow(
    'it failed',
  );
  expect(await fleets.snapshot(scope, async () => 'read nothing')).toBe('read nothing');
  const unknown = fleets.snapshot(scope, (_, read) => read(asId<ClusterId>(testId(999))));
  await expect(unknown).rejects.toMatchObject({ code: 'cluster.not_found' });
  expect((await readBoth()).kept.clusterId).toBe(clusterId);
});

/** Changes of every kind that a fleet knows, a few of them in one transaction that stays open for a while. */
async function changeSomething(random: SeededRandom): Promise<void> {
  const scope = systemScope(pool);
  const node = random.below(5);
  const disk = testId(500 + random.below(DISKS));
  switch (random.below(6)) {
    case 0: {
      const report = aDiskReport(asId<DiskId>(disk), { availableBytes: random.below(1_000_000) });
      await new PostgresStore(scope).recordHeartbeat(
        clusterId,
        aHeartbeat(`node-${node}`, { disks: [report] }),
        NOON,
      );
      return;
    }
    case 1:
      await pool.query('DELETE FROM disk WHERE id = $1', [disk]);
      return;
    case 2:
      await transaction(scope, async (sql) => {
        await sql.query('UPDATE disk SET pressed_at = $1 WHERE id = $2', [
          secondsAfterNoon(random.below(99)),
          disk,
        ]);
        await sql.query('SELECT pg_sleep(0.02)');
      });
      return;
    case 3:
      await pool.query('UPDATE node SET returned_at = $1, tags = $2 WHERE name = $3', [
        secondsAfterNoon(random.below(99)),
        [`tag-${random.below(9)}`],
        `node-${node}`,
      ]);
      return;
    case 4:
      await changeSetting(
        { access: postgresAccess(scope, organizationId), clock: { now: () => NOON } },
        clusterId,
        { name: 'storage-over-provisioning-percentage', value: random.below(200) },
      );
      return;
    default:
      await pool.query('UPDATE disk SET storage_scheduled_bytes = $1 WHERE id = $2', [
        random.below(999),
        disk,
      ]);
  }
}
