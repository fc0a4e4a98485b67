import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { decideCreation } from '@holdfast/core/lifecycle/decide-creation.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { asId, type DiskId, type ProjectId } from '@holdfast/core/model/ids.js';
import { BlackholeProxy } from '@holdfast/testkit/blackhole-proxy.js';
import { aDiskReport, aHeartbeat, NOON, testId } from '@holdfast/testkit/builders.js';
import { untilLockIsAwaited } from '@holdfast/testkit/lock-waits.js';
import { outcome } from '@holdfast/testkit/store-fixture.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { postgresAccess } from '../access/postgres-access.js';
import { systemClock, systemRandom } from '../clock-and-random.js';
import type { LocalSeed } from '../seed-local.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope, transaction } from '../sql/scope.js';
import { type FleetHorizon, readFleetChanges, readWholeFleet } from '../store/fleet-changes.js';
import { PostgresStore } from '../store/postgres-store.js';
import { CreationBatcher } from './creation-batcher.js';

const ZONES = ['a', 'b', 'c'];
const DISK_BYTES = 100 * GIB;

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;
let seed: LocalSeed;
let scope: Scope;
let batcher: CreationBatcher;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  pool = createPool(database.apiUrl, { connectionsMax: 5, applicationName: 'creations' });
});

beforeEach(async () => {
  await owner.query('TRUNCATE organization, app_user, outbox, audit_entry CASCADE');
  seed = await seedTestDatabase(database);
  scope = organizationScope(pool, seed.organizationId);
  batcher = new CreationBatcher((organizationId) => organizationScope(pool, organizationId));
  for (const zone of ZONES) await addNode(zone);
});

// A lock that a test forgot would stop the next one.
afterEach(() => owner.query('ROLLBACK'));

afterAll(async () => {
  await owner?.end();
  await pool?.end();
  await database?.stop();
});

type Wish = { sizeBytes?: number; numberOfReplicas?: number; projectId?: ProjectId; at?: CreationBatcher };

describe('a cached fleet', () => {
  // Each of these happens behind the batcher's back, after it has seen the fleet, and without a version being counted up.
  test.each([
    ['a node is cordoned', `UPDATE node SET cordoned = true WHERE name = 'node-b'`],
    ['a node is not ready any more', `UPDATE node SET conditions = '[]' WHERE name = 'node-b'`],
    ['a disk is switched off', `UPDATE disk SET allow_scheduling = false WHERE name = 'disk-56'`],
    ['a disk is full', `UPDATE disk SET storage_available_bytes = 0 WHERE name = 'disk-56'`],
    [
      'a disk is booked by another process',
      `UPDATE disk SET storage_scheduled_bytes = 99.5 * 1073741824 WHERE name = 'disk-56'`,
    ],
  ])('when %s, the next volume avoids it', async (_name, change) => {
    expect((await create('before')).disks).toContain(diskOf('b'));
    expect((await owner.query(change)).rowCount).toBe(1);
    const next = await create('after', { numberOfReplicas: 2 });
    expect(next.scheduled).toBe('True');
    expect([...next.disks].sort()).toEqual([diskOf('a'), diskOf('c')]);
  });

  test('when a disk is gone, the next volume does without', async () => {
    await addNode('d');
    expect((await create('before')).disks).not.toContain(diskOf('d'));
    await owner.query('DELETE FROM disk WHERE id = $1', [diskOf('d')]);
    const next = await create('after');
    expect([...next.disks].sort()).toEqual([diskOf('a'), diskOf('b'), diskOf('c')]);
  });

  test('when a node comes, the next volume may use it', async () => {
    await create('before');
    await owner.query(`UPDATE disk SET allow_scheduling = false`);
    await addNode('d');
    expect((await create('after', { numberOfReplicas: 1 })).disks).toEqual([diskOf('d')]);
  });

  test('when its rows are broken, nothing is placed, until they are not', async () => {
    await create('before');
    const stray = testId(900);
    await owner.query(
      `WITH c AS (INSERT INTO cluster (id, organization_id, name, created_at) SELECT $2, id, 'c', now() FROM organization
         RETURNING id, organization_id),
       n AS (INSERT INTO node (id, organization_id, cluster_id, name, created_at)
         SELECT id, organization_id, id, 'elsewhere', now() FROM c RETURNING id, organization_id)
       INSERT INTO disk (id, organization_id, cluster_id, node_id, name, path, type, storage_maximum_bytes,
         storage_available_bytes, created_at)
       SELECT $1, organization_id, $3, id, 'stray', '/', 'filesystem', 1, 1, now() FROM n`,
      [stray, testId(901), seed.clusterId],
    );
    expect(await outcome(create('during'))).toBe('fleet.inconsistent');
    expect(await outcome(create('elsewhere', { at: new CreationBatcher(() => scope) }))).toBe(
      'fleet.inconsistent',
    );
    await owner.query('DELETE FROM disk WHERE id = $1', [stray]);
    expect((await create('after')).scheduled).toBe('True');
  });

  test('when a setting changes, the next volume is decided by it', async () => {
    await create('before', { sizeBytes: 60 * GIB });
    expect((await create('too-much', { sizeBytes: 60 * GIB })).scheduled).toBe('False');
    const ports = { access: postgresAccess(scope, seed.organizationId), clock: { now: () => NOON } };
    await changeSetting(ports, seed.clusterId, { name: 'storage-over-provisioning-percentage', value: 200 });
    expect((await create('after', { sizeBytes: 60 * GIB })).scheduled).toBe('True');
  });
});

test('when the database falls silent, those that have waited behind a transaction are refused with it', async () => {
  const proxy = await BlackholeProxy.to(Number(new URL(database.ownerUrl).port));
  const cut = createPool(proxy.onWayTo(database.apiUrl), {
    connectionsMax: 2,
    applicationName: 'cut',
    statementMsMax: 1_000,
  });
  const at = new CreationBatcher(() => organizationScope(cut, seed.organizationId));
  proxy.cutBehind('INSERT INTO volume');
  const refusedAtMs = async (name: string) => {
    expect(await outcome(create(name, { at }))).toBe('store.unavailable');
    return performance.now();
  };
  const [first = 0, ...others] = await Promise.all(['one', 'two', 'three'].map(refusedAtMs));
  // Another try would take the five seconds of a connection that is not answered.
  expect(others.map((ms) => ms - first < 4_500)).toEqual([true, true]);
  await cut.end();
  await proxy.close();
});

describe('what has changed', () => {
  const changesSince = (since: FleetHorizon) =>
    transaction(scope, (sql) => readFleetChanges(sql, seed.clusterId, since));

  test('is nothing at once after a look, then what was written, by any writer', async () => {
    const { horizon } = await transaction(scope, (sql) => readWholeFleet(sql, seed.clusterId));
    expect((await changesSince(horizon)).changes).toMatchObject({
      settings: undefined,
      nodes: [],
      disks: [],
    });
    await owner.query(`UPDATE node SET nbd_port = 1 WHERE name = 'node-b'`);
    const { changes } = await changesSince(horizon);
    expect(changes.nodes.map(({ name }) => name)).toEqual(['node-b']);
    expect(changes.disks).toEqual([]);
  });

  test('includes what was under way at the last look', async () => {
    await owner.query('BEGIN');
    await owner.query(`UPDATE node SET nbd_port = 1 WHERE name = 'node-b'`);
    // Began later and is over sooner: the look sees it, and not the one before it.
    await transaction(scope, (sql) => sql.query('UPDATE cluster SET name = name'));
    const { horizon } = await transaction(scope, (sql) => readWholeFleet(sql, seed.clusterId));
    await owner.query('COMMIT');
    expect((await changesSince(horizon)).changes.nodes.map(({ name }) => name)).toContain('node-b');
  });

  test('is everything for a look at another server, whose transactions were further', async () => {
    const { changes } = await changesSince({ transactionId: '1000000', settingsVersion: 1 });
    expect(changes.nodes).toHaveLength(3);
    expect(changes.disks).toHaveLength(3);
  });
});

describe('a booking', () => {
  test('that lost its room between decision and lock is decided anew', async () => {
    await create('warm');
    // The disk that the decision will choose is held until after the decision, and then has no room.
    await owner.query(`UPDATE disk SET storage_scheduled_bytes = $2 WHERE id <> $1`, [diskOf('b'), 20 * GIB]);
    await owner.query('BEGIN');
    await owner.query(`UPDATE disk SET storage_scheduled_bytes = $2 WHERE id = $1`, [
      diskOf('b'),
      DISK_BYTES,
    ]);
    const created = create('late', { numberOfReplicas: 1 });
    await untilLockIsAwaited(database.ownerUrl, 'creations');
    await owner.query('COMMIT');
    expect((await created).disks).not.toContain(diskOf('b'));
    expect(await bookedBytes()).toMatchObject({ [diskOf('b')]: DISK_BYTES });
  });

  test.each([
    ['its node changed', `UPDATE node SET cordoned = true, version = version + 1 WHERE name = 'node-b'`],
    [
      'its disk changed',
      `UPDATE disk SET allow_scheduling = false, version = version + 1 WHERE name = 'disk-56'`,
    ],
    ['its disk filled up', `UPDATE disk SET storage_available_bytes = 0 WHERE name = 'disk-56'`],
  ])('is refused when %s after the decision', async (_name, change) => {
    const changer = new pg.Client({ connectionString: database.ownerUrl });
    await changer.connect();
    // A lock on another disk holds the booking up, so that the change falls between decision and booking.
    await owner.query('BEGIN');
    await owner.query('SELECT FROM disk WHERE id = $1 FOR UPDATE', [diskOf('a')]);
    let decisions = 0;
    const counting = new CreationBatcher(
      () => scope,
      (...question) => {
        decisions += 1;
        return decideCreation(...question);
      },
    );
    const { organizationId, projectId, clusterId } = seed;
    const ports = {
      store: new PostgresStore(scope),
      clock: systemClock,
      random: systemRandom,
      creations: counting.for({ organizationId: seed.organizationId }),
    };
    const created = createVolume(ports, {
      organizationId,
      projectId,
      clusterId,
      name: 'late',
      sizeBytes: GIB,
    });
    await untilLockIsAwaited(database.ownerUrl, 'creations');
    await changer.query(change);
    await changer.end();
    await owner.query('COMMIT');
    await created;
    expect(decisions).toBeGreaterThanOrEqual(2);
  });

  test('waits for a change of the settings, and is decided by the new ones', async () => {
    await create('warm', { sizeBytes: 60 * GIB });
    await owner.query('BEGIN');
    await owner.query(
      `INSERT INTO setting (cluster_id, name, organization_id, value, updated_at)
       SELECT id, 'storage-over-provisioning-percentage', organization_id, '50', now() FROM cluster`,
    );
    await owner.query('UPDATE cluster SET settings_version = settings_version + 1');
    const created = create('late');
    await untilLockIsAwaited(database.ownerUrl, 'creations');
    await owner.query('COMMIT');
    expect((await created).scheduled).toBe('False');
  });

  test('never passes a limit, whichever process makes it', async () => {
    const batchers = [batcher, new CreationBatcher(() => scope), new CreationBatcher(() => scope)];
    const wishes = Array.from({ length: 60 }, (_, n) =>
      create(`v-${n}`, { at: batchers[n % batchers.length] ?? batcher, sizeBytes: 7 * GIB }),
    );
    const created = await Promise.all(wishes);
    // 14 of 7 GiB fit on a disk of 100 GiB, and every volume wants all three disks.
    const limit = 14 * 7 * GIB;
    expect(Object.values(await bookedBytes())).toEqual([limit, limit, limit]);
    expect(
      created.filter(({ scheduled, disks }) => scheduled === 'True' && !disks.includes(undefined)),
    ).toHaveLength(14);
    const { rows } = await owner.query(
      'SELECT sum(size_bytes)::text AS bytes FROM replica WHERE disk_id IS NOT NULL',
    );
    expect(Number(rows[0].bytes)).toBe(3 * limit);
  });
});

describe('volumes that share a transaction', () => {
  test('a taken name refuses one of them, and books nothing for it', async () => {
    const made = await Promise.all([
      outcome(create('one')),
      outcome(create('same')),
      outcome(create('same')),
      outcome(create('two')),
    ]);
    expect(made.sort()).toEqual(['done', 'done', 'done', 'volume.name_taken']);
    expect(await outcome(create('same'))).toBe('volume.name_taken');
    expect(Object.values(await bookedBytes())).toEqual([3 * GIB, 3 * GIB, 3 * GIB]);
    // A place that was released in memory is taken again.
    expect((await create('large', { sizeBytes: 97 * GIB })).scheduled).toBe('True');
  });

  test('a wrong one, or one the database refuses, fails alone', async () => {
    const made = await Promise.all([
      outcome(create('fine-1')),
      outcome(create('fine-2')),
      outcome(create('no blanks, please')),
      outcome(create('nobodys', { projectId: asId(testId(999)) })),
      outcome(create('fine-3')),
    ]);
    expect(made).toEqual(['done', 'done', 'request.invalid', 'store.conflict', 'done']);
    expect(Object.values(await bookedBytes())).toEqual([3 * GIB, 3 * GIB, 3 * GIB]);
  });

  test('decisions that take long are spread over several transactions, and none is lost', async () => {
    const slowly = new CreationBatcher(
      () => scope,
      (...question) => {
        const endsAtMs = performance.now() + 60;
        while (performance.now() < endsAtMs);
        return decideCreation(...question);
      },
    );
    const { organizationId, projectId, clusterId } = seed;
    const ports = {
      store: new PostgresStore(scope),
      clock: systemClock,
      random: systemRandom,
      creations: slowly.for({ organizationId: seed.organizationId }),
    };
    const input = { organizationId, projectId, clusterId, sizeBytes: GIB };
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => createVolume(ports, { ...input, name: `slow-${n}` })),
    );
    const { rows } = await owner.query(
      'SELECT count(DISTINCT transaction_id)::int AS transactions FROM event',
    );
    // The first goes alone; of the others two or so are decided in the time of one transaction.
    expect(rows[0].transactions).toBeGreaterThan(3);
    expect(Object.values(await bookedBytes())).toEqual([8 * GIB, 8 * GIB, 8 * GIB]);
  });

  test('each leaves its event, its wake-up and its audit entry', async () => {
    const audited = batcher.for({ organizationId: seed.organizationId, audit: () => auditEntry('r-1') });
    const { organizationId, projectId, clusterId } = seed;
    const ports = { store: new PostgresStore(scope), clock: systemClock, random: systemRandom };
    const input = { organizationId, projectId, clusterId, sizeBytes: GIB };
    const made = await Promise.all([
      create('silent'),
      createVolume({ ...ports, creations: audited }, { ...input, name: 'audited' }),
    ]);
    const events = await owner.query(
      `SELECT type, message FROM event WHERE type = 'VolumeCreated' ORDER BY id`,
    );
    expect(events.rows.map(({ message }) => message)).toEqual([
      'volume silent created, 3 of 3 replicas placed',
      'volume audited created, 3 of 3 replicas placed',
    ]);
    const outbox = await owner.query(`SELECT target_id FROM outbox WHERE kind = 'volume' ORDER BY target_id`);
    expect(outbox.rows.map(({ target_id }) => target_id)).toEqual([made[0].id, made[1].volumeId].sort());
    const audit = await owner.query('SELECT action, request_id, detail FROM audit_entry');
    expect(audit.rows).toEqual([{ action: 'a test', request_id: 'r-1', detail: { "it's": ['"quoted"'] } }]);
  });
});

function auditEntry(requestId: string) {
  return {
    organizationId: seed.organizationId,
    actor: { kind: 'user/api', id: 'a-user' },
    address: '',
    traceId: '',
    action: 'a test',
    target: { kind: 'cluster', id: seed.clusterId },
    requestId,
    detail: { "it's": ['"quoted"'] },
    at: NOON,
  };
}

describe("another organization's cluster", () => {
  test('is not found, even when this process knows it', async () => {
    await create('known');
    const stranger = asId<LocalSeed['organizationId']>(testId(77));
    await owner.query(`INSERT INTO organization (id, name, created_at) VALUES ($1, 'other', now())`, [
      stranger,
    ]);
    const creations = batcher.for({ organizationId: stranger });
    const ports = { store: new PostgresStore(scope), clock: systemClock, random: systemRandom, creations };
    const { projectId, clusterId } = seed;
    const input = { organizationId: stranger, projectId, clusterId, name: 'theirs', sizeBytes: GIB };
    expect(await outcome(createVolume(ports, input))).toBe('cluster.not_found');
  });
});

/** A ready node with one disk of 100 GiB, in a zone of its own. */
async function addNode(name: string, diskId = diskOf(name)): Promise<void> {
  const heartbeat = aHeartbeat(`node-${name}`, {
    node: { zone: `zone-${name}` },
    disks: [aDiskReport(diskId, { maximumBytes: DISK_BYTES, availableBytes: DISK_BYTES })],
  });
  await new PostgresStore(scope).recordHeartbeat(seed.clusterId, heartbeat, NOON);
  const ready = { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON };
  await owner.query('UPDATE node SET conditions = $2 WHERE name = $1', [
    `node-${name}`,
    JSON.stringify([ready]),
  ]);
}

function diskOf(name: string): DiskId {
  return asId(testId(500 + name.charCodeAt(0)));
}

async function create(name: string, { at = batcher, ...wish }: Wish = {}) {
  const { organizationId, projectId, clusterId } = seed;
  const creations = at.for({ organizationId });
  const ports = { store: new PostgresStore(scope), clock: systemClock, random: systemRandom, creations };
  const input = { organizationId, projectId, clusterId, name, sizeBytes: GIB, ...wish };
  const { volume, replicas } = await createVolume(ports, input);
  return {
    id: volume.id,
    disks: replicas.map(({ replica }) => replica.diskId),
    scheduled: conditionOf(volume.conditions, 'Scheduled')?.status,
  };
}

async function bookedBytes(): Promise<Record<string, number>> {
  const { rows } = await owner.query('SELECT id, storage_scheduled_bytes AS bytes FROM disk ORDER BY id');
  return Object.fromEntries(rows.map(({ id, bytes }) => [id, Number(bytes)]));
}
