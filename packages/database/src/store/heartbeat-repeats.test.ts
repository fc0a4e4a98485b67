/** Heartbeats that say nothing new, on a real Postgres: which changes of a node end them, and which do not. */
import type { StampReport } from '@holdfast/core/model/agent-protocol.js';
import {
  asId,
  type ClusterId,
  type DiskId,
  type NodeId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat, aReplica, aVolume, testId } from '@holdfast/testkit/builders.js';
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
import { type RepeatedHeartbeat, recordRepeats } from './heartbeat-repeats.js';
import { PostgresStore } from './postgres-store.js';
import { pruneHistory } from './prune.js';

const DISK = asId<DiskId>(testId(501));
const COPY = asId<ReplicaId>(testId(101));
const VOLUME = asId<VolumeId>(testId(1));
const [FIRST, SECOND] = [testId(701), testId(702)];
const KEY = 'key of node-1';

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;
let store: PostgresStore;
let cluster: ClusterId;
let nodeId: NodeId;

test('a report that holds is stored as a sign of life, as of when it was received', async () => {
  const reportId = await settled();
  await owner.query(`UPDATE node SET last_heartbeat_at = now() - interval '1 minute'`);
  expect(await repeat({ reportId, ageMs: () => 20_000 })).toEqual({ stamps: [] });
  expect(await heardSecondsAgo()).toBeGreaterThan(19);
  expect(await heardSecondsAgo()).toBeLessThan(59);
  expect(await repeat({ reportId })).toEqual({ stamps: [] });
  // One that waited is no step back.
  expect(await repeat({ reportId, ageMs: () => 40_000 })).toEqual({ stamps: [] });
  expect(await heardSecondsAgo()).toBeLessThan(19);
});

beforeAll(async () => {
  database = await startTestDatabase();
  pool = createPool(database.systemUrl, { connectionsMax: 5, applicationName: 'heartbeat-repeats' });
  store = new PostgresStore(systemScope(pool));
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await pool?.end();
  await database?.stop();
});

/** A ready node with a disk in use and a copy of a volume on it, whose reports bring nothing new any more. */
beforeEach(async () => {
  await owner.query('TRUNCATE organization, app_user, outbox, stale_report CASCADE');
  const tenant = await seedTestDatabase(database);
  cluster = tenant.clusterId;
  nodeId = (await whole()).nodeId;
  await makeNodesReady(owner);
  await owner.query(
    `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
     SELECT id, organization_id, cluster_id, name, $1, now(), now() + interval '1 day' FROM node`,
    [KEY],
  );
  const volume = aVolume(tenant, { id: VOLUME });
  const replica = aReplica({ id: COPY, volumeId: volume.id, nodeId, diskId: DISK, provisioned: true });
  await store.commit({ kind: 'new' }, [
    { kind: 'volume.create', volume },
    { kind: 'replica.create', replica, booking: undefined },
  ]);
});

function aStamp(id: string, trail: string[] = []): StampReport {
  return { id, generation: trail.length + 1, trail, isOpen: true, fileId: 'file' };
}

async function whole() {
  const disks = [aDiskReport(DISK, { stamp: aStamp(FIRST), copiesListed: true })];
  const copy = { replicaId: COPY, volumeId: VOLUME, diskId: DISK, writtenBytes: 0, record: null };
  return store.recordHeartbeat(cluster, aHeartbeat('node-1', { disks, replicas: [copy] }));
}

/** As the agent does: reports in full until a report may be named. */
async function settled(): Promise<string> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    const { reportId } = await whole();
    if (reportId !== undefined && (await repeat({ reportId })) !== undefined) return reportId;
  }
  throw new Error('the reports never settle');
}

async function repeat(part: Partial<RepeatedHeartbeat> & { reportId: string }) {
  const { node } = aHeartbeat('node-1');
  const { name, bootId, controlUrl, nbdHost } = node;
  const own = { name, bootId, controlUrl, nbdHost, nodeId, clusterId: cluster, keyHash: KEY };
  const stored = await recordRepeats(systemScope(pool), [{ ...own, stamps: [], ageMs: () => 0, ...part }]);
  return stored.get(nodeId);
}

async function heardSecondsAgo(): Promise<number> {
  const { rows } = await owner.query(
    'SELECT extract(epoch FROM now() - last_heartbeat_at)::float AS s FROM node',
  );
  return rows[0].s;
}

const ENDS: [string, string][] = [
  ['a revoked certificate', 'UPDATE node_identity SET revoked_at = now()'],
  ['another key', `UPDATE node_identity SET key_hash = 'another'`],
  ['a node that is forgotten', `UPDATE node SET forget = '{}'`],
  ['another life of the agent', `UPDATE node SET boot_id = gen_random_uuid(), report_id = report_id`],
  ['a report that a version from before this has stored', 'UPDATE node SET boot_id = boot_id'],
  ['a node that is not ready', `UPDATE node SET conditions = '[]'`],
  ['a node that gave no answer', "UPDATE node SET unanswered_at = now() + interval '1 minute'"],
  ['an upgrade that was finished', `INSERT INTO version_floor VALUES (1, '', 1000, now())`],
  [
    'a new disk',
    `INSERT INTO disk SELECT (jsonb_populate_record(d, jsonb_build_object('id', gen_random_uuid(), 'name', 'new'))).* FROM disk d`,
  ],
  ['a disk that is to be removed', 'UPDATE disk SET removal_requested_at = now()'],
  ['a disk that a user accepts', 'UPDATE disk SET accepted_node_id = node_id'],
  ['another size that a user wants', 'UPDATE disk SET configured_bytes = 5'],
  ["a disk's conditions", `UPDATE disk SET conditions = '[]'`],
  ['a replica that is gone', 'DELETE FROM replica'],
  ['a replica whose copy is to be made anew', 'UPDATE replica SET provisioned = false'],
  ['a replica that counts as not reported', 'UPDATE replica SET unreported_since = now()'],
  ['a replica on no disk', 'UPDATE replica SET disk_id = NULL, node_id = NULL'],
  [
    'a new replica with a copy',
    `INSERT INTO replica SELECT (jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid()))).* FROM replica r`,
  ],
];

test.each(ENDS)('%s ends it', async (_what, change) => {
  const reportId = await settled();
  await owner.query(`UPDATE node SET last_heartbeat_at = now() - interval '1 minute'`);
  try {
    await owner.query(change);
    expect(await repeat({ reportId })).toBeUndefined();
    expect(await heardSecondsAgo()).toBeGreaterThan(59);
  } finally {
    await owner.query('DELETE FROM version_floor');
  }
});

test.each([
  ['free bytes', 'UPDATE disk SET storage_available_bytes = 1'],
  ['a booking', 'UPDATE disk SET storage_scheduled_bytes = storage_scheduled_bytes'],
  ["a replica's mode", `UPDATE replica SET mode = 'RW'`],
  ["a user's zone", `UPDATE node SET zone = 'by-hand'`],
])('%s does not', async (_what, change) => {
  const reportId = await settled();
  await owner.query(change);
  expect(await repeat({ reportId })).toBeDefined();
});

test('an orphan whose row is gone while its copy is there ends it, and is found again', async () => {
  await owner.query('DELETE FROM replica');
  const reportId = await settled();
  const { rowCount } = await owner.query('DELETE FROM orphan');
  expect(rowCount).toBe(1);
  expect(await repeat({ reportId })).toBeUndefined();
  await whole();
  expect((await owner.query('SELECT FROM orphan')).rowCount).toBe(1);
});

test('each whole report has another id, and the one before counts no more', async () => {
  const reportId = await settled();
  const next = await whole();
  expect(await repeat({ reportId })).toBeUndefined();
  expect(await repeat({ reportId: next.reportId ?? '' })).toBeDefined();
});

test('a change that commits while a report is stored ends that report', async () => {
  await settled();
  await owner.query('BEGIN');
  await owner.query(`UPDATE replica SET unreported_since = now()`);
  // It does not wait: it reads the row as it was before.
  const { reportId } = await whole();
  expect(await repeat({ reportId: reportId ?? '' })).toBeDefined();
  await owner.query('COMMIT');
  expect(await repeat({ reportId: reportId ?? '' })).toBeUndefined();
  await settled();
  expect((await owner.query('SELECT FROM replica WHERE unreported_since IS NULL')).rowCount).toBe(1);
});

test('a stamp that follows the stored one is stored, and an earlier one has to be judged', async () => {
  const reportId = await settled();
  const stamp = async () => (await owner.query(`SELECT stamp ->> 'id' AS id FROM disk`)).rows[0].id;
  const claims = (...stamps: StampReport[]) => ({
    reportId,
    stamps: stamps.map((one) => ({ diskId: DISK, stamp: one })),
  });
  expect(await repeat(claims(aStamp(SECOND, [FIRST])))).toEqual({
    stamps: [{ diskId: DISK, stampId: SECOND }],
  });
  expect(await stamp()).toBe(SECOND);
  expect(await repeat(claims(aStamp(SECOND, [FIRST])))).toEqual({
    stamps: [{ diskId: DISK, stampId: SECOND }],
  });
  expect(await repeat(claims(aStamp(FIRST)))).toBeUndefined();
  expect(await stamp()).toBe(SECOND);
});

test('a node or disk that another transaction holds keeps no other node waiting', async () => {
  const reportId = await settled();
  await owner.query('BEGIN');
  try {
    await owner.query('SELECT FROM disk FOR UPDATE');
    const stamps = [{ diskId: DISK, stamp: aStamp(SECOND, [FIRST]) }];
    expect(await repeat({ reportId, stamps })).toEqual({ stamps: [] });
    await owner.query('SELECT FROM node FOR UPDATE');
    expect(await repeat({ reportId })).toBeUndefined();
  } finally {
    await owner.query('ROLLBACK');
  }
});

test('of the notes of a silent node one is kept, which ends its report still', async () => {
  const reportId = await settled();
  for (const sizeBytes of [1, 2, 3]) await owner.query('UPDATE disk SET configured_bytes = $1', [sizeBytes]);
  await pruneHistory(systemScope(pool), new Date());
  expect((await owner.query('SELECT FROM stale_report')).rowCount).toBe(1);
  expect(await repeat({ reportId })).toBeUndefined();
});

test('a node that is gone leaves no notes', async () => {
  await settled();
  await owner.query('UPDATE disk SET configured_bytes = 5');
  expect((await owner.query('SELECT FROM stale_report')).rowCount).toBeGreaterThan(0);
  await owner.query('DELETE FROM replica; DELETE FROM disk; DELETE FROM node_identity; DELETE FROM node');
  expect((await owner.query('SELECT FROM stale_report')).rowCount).toBe(0);
});
