/** A removal and a replica that would get the orphan's id, at once on a real Postgres: one of them is refused. */
import {
  asId,
  type ClusterId,
  type DiskId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { Orphan } from '@holdfast/core/model/orphan.js';
import { aDiskReport, aHeartbeat, aReplica, aVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { untilLockIsAwaited } from '@holdfast/testkit/lock-waits.js';
import { outcome } from '@holdfast/testkit/store-fixture.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import pg from 'pg';
import { createPool, type Pool } from '../sql/pool.js';
import { systemScope } from '../sql/scope.js';
import { PostgresStore } from './postgres-store.js';

const DISK = asId<DiskId>(testId(501));
const COPY = asId<ReplicaId>(testId(101));
const SPARE = asId<ReplicaId>(testId(102));

let database: TestDatabase;
let rival: pg.Client;
let pool: Pool;
let store: PostgresStore;
let cluster: ClusterId;
let orphan: Orphan;

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 5, applicationName: 'orphan-race' });
  store = new PostgresStore(systemScope(pool));
  rival = new pg.Client({ connectionString: database.ownerUrl });
  await rival.connect();
});

afterAll(async () => {
  await rival?.end();
  await pool?.end();
  await database?.stop();
});

/** A volume with a replica `SPARE`, which is renamed when a row of another id is wanted, and the orphan `COPY`. */
beforeEach(async () => {
  await rival.query('TRUNCATE organization, app_user, outbox CASCADE');
  const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
  cluster = clusterId;
  await beat();
  await makeNodesReady(rival);
  const volume = aVolume({ organizationId, projectId, clusterId });
  await store.commit({ kind: 'new' }, [
    { kind: 'volume.create', volume },
    { kind: 'replica.create', replica: aReplica({ id: SPARE, volumeId: volume.id }), booking: undefined },
  ]);
  orphan = await onlyOrphan();
});

const insertReplica = () =>
  rival.query(
    `INSERT INTO replica (id, organization_id, volume_id, size_bytes, intent, secret, created_at)
     SELECT $1, organization_id, volume_id, size_bytes, intent, secret, created_at FROM replica WHERE id = $2`,
    [COPY, SPARE],
  );

test('a claim waits for a replica that is being made under the same id, and is refused when that is there', async () => {
  await rival.query('BEGIN');
  await insertReplica();
  const claimed = claim();
  await untilLockIsAwaited(database.ownerUrl, 'orphan-race');
  await rival.query('COMMIT');
  expect(await claimed).toBe('store.conflict');
  expect(await store.loadOrphan(orphan.id)).toBeUndefined();
});

test('when that is given up the claim goes through, and from then on no replica gets the id', async () => {
  await rival.query('BEGIN');
  await insertReplica();
  const claimed = claim();
  await untilLockIsAwaited(database.ownerUrl, 'orphan-race');
  await rival.query('ROLLBACK');
  expect(await claimed).toBe('done');
  await expect(insertReplica()).rejects.toMatchObject({ code: '40001' });
});

test('a replica that is being made while a report of its copy is stored: it can not be claimed, and is listed no more', async () => {
  await rival.query('DELETE FROM orphan');
  await rival.query('BEGIN');
  await insertReplica();
  await beat();
  await rival.query('COMMIT');
  orphan = await onlyOrphan();
  expect(await claim()).toBe('store.conflict');
  await beat();
  expect(await store.loadOrphan(orphan.id)).toBeUndefined();
});

function beat() {
  const copy = {
    replicaId: COPY,
    volumeId: asId<VolumeId>(testId(9)),
    diskId: DISK,
    writtenBytes: 1,
    record: null,
  };
  const heartbeat = aHeartbeat('node-1', { disks: [aDiskReport(DISK)], replicas: [copy] });
  return store.recordHeartbeat(cluster, heartbeat, NOON);
}

async function onlyOrphan(): Promise<Orphan> {
  const [found] = (await store.loadOrphans(cluster, 1)).orphans;
  if (found === undefined) throw new Error('there is no orphan');
  return found.orphan;
}

function claim(): Promise<string> {
  const removal = { by: 'person' as const, requestedAt: NOON, claimedAt: NOON, trouble: undefined };
  return outcome(
    store.commit({ kind: 'orphan', orphanId: orphan.id, ifVersion: orphan.version }, [
      { kind: 'orphan.patch', orphanId: orphan.id, patch: { removal } },
    ]),
  );
}
