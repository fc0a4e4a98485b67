/**
 * Plans of all that a worker, and the API for it, ask of Postgres. The store's contract sends every statement of the store;
 * relay, listening, pruning, deliveries to webhooks and alerts are run beside it. None may read all of a table that grows with
 * the cluster.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { MISSED_AFTER_MS } from '@holdfast/core/policy/node-liveness.js';
import { holderProof } from '@holdfast/identity/copy-secret.js';
import {
  aDiskReport,
  aHeartbeat,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aReplica,
  aSnapshot,
  NOON,
  testId,
} from '@holdfast/testkit/builders.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { storeContract } from '@holdfast/testkit/store-contract.js';
import type { StoreUnderTest } from '@holdfast/testkit/store-under-test.js';
import { storedEvents } from '@holdfast/testkit/stored-events.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { postgresAccess } from '../src/access/postgres-access.js';
import { setQuotaLimits } from '../src/queries/quotas.js';
import { createPool } from '../src/sql/pool.js';
import { snapshot, systemScope, transaction, unsyncedTransaction } from '../src/sql/scope.js';
import { FleetReader } from '../src/store/fleet-reader.js';
import { recordRepeats } from '../src/store/heartbeat-repeats.js';
import { noteListening } from '../src/store/listening.js';
import { PostgresOutbox } from '../src/store/postgres-outbox.js';
import { PostgresStore } from '../src/store/postgres-store.js';
import { pruneHistory } from '../src/store/prune.js';
import { listMissedNodes, noteUnanswered } from '../src/store/unresponsive-nodes.js';
import { deliverToWebhook, evaluateSilentNode } from './event-rounds.js';
import { fillCluster, judgeOf, makeHistory } from './large-cluster.js';
import { explainText, planFindings, StatementRecorder } from './statement-recorder.js';

const recorder = new StatementRecorder();
let database: TestDatabase;
let owner: pg.Client;

beforeAll(async () => {
  database = await startTestDatabase();
  // Row-level security holds for the owner too, and lets it see nothing: this one is the server's own user.
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  await owner?.end();
  await database?.stop();
});

describe('what is recorded', () => {
  storeContract(makeStore);

  test('relay, listening and pruning send their statements', async () => {
    const { stop, tenant, setSetting } = await makeStore();
    await setSetting('audit-retention-days', 9);
    const pool = recorder.watch(
      createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'plans' }),
    );
    await new PostgresOutbox(pool, database.systemUrl).drain(10, async () => undefined);
    await noteListening(systemScope(pool));
    await pruneHistory(systemScope(pool), new Date());
    const store = new PostgresStore(systemScope(pool));
    await store.listClusters();
    await snapshot(systemScope(pool), (sql) => listMissedNodes(sql, 100));
    await store.recordHeartbeat(tenant.clusterId, aHeartbeat('silent'));
    // As the API reads a fleet, for which nothing is kept.
    const [node] = (await store.loadFleet(tenant.clusterId)).nodes;
    if (node === undefined) throw new Error('the node that was heard is not there');
    const at = new Date(Date.now() + 10 * MISSED_AFTER_MS);
    await unsyncedTransaction(systemScope(pool), (sql) => noteUnanswered(sql, { node, at }));
    await pool.end();
    await stop();
  });

  test('heartbeats that say nothing new send theirs', async () => {
    const { stop, tenant } = await makeStore();
    const pool = recorder.watch(
      createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'plans' }),
    );
    const [diskId, first, second] = [asId<DiskId>(testId(501)), testId(701), testId(702)];
    const stampOf = (id: string, trail: string[]) => ({
      id,
      generation: trail.length + 1,
      trail,
      isOpen: true,
    });
    const heartbeat = aHeartbeat('node-1', { disks: [aDiskReport(diskId, { stamp: stampOf(first, []) })] });
    const store = new PostgresStore(systemScope(pool));
    await store.recordHeartbeat(tenant.clusterId, heartbeat);
    await makeNodesReady(owner);
    await owner.query(
      `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
       SELECT id, organization_id, cluster_id, name, 'key', now(), now() + interval '1 day' FROM node`,
    );
    const { nodeId, reportId = '' } = await store.recordHeartbeat(tenant.clusterId, heartbeat);
    const { name, bootId, controlUrl, nbdHost } = heartbeat.node;
    const claim = {
      reportId,
      name,
      bootId,
      controlUrl,
      nbdHost,
      nodeId,
      clusterId: tenant.clusterId,
      keyHash: 'key',
    };
    const stamps = [{ diskId, stamp: stampOf(second, [first]) }];
    const stored = await recordRepeats(systemScope(pool), [{ ...claim, stamps, ageMs: () => 0 }]);
    expect(stored.get(nodeId)).toEqual({ stamps: [{ diskId, stampId: second }] });
    await pool.end();
    await stop();
  });

  test('deliveries to webhooks and the evaluation of alerts send theirs', async () => {
    const under = await makeStore();
    const pool = recorder.watch(
      createPool(database.systemUrl, { connectionsMax: 2, applicationName: 'plans' }),
    );
    await deliverToWebhook(systemScope(pool), under);
    await evaluateSilentNode(systemScope(pool), owner, under);
    await pool.end();
    await under.stop();
  });
});

async function makeStore(): Promise<StoreUnderTest> {
  await owner.query('TRUNCATE organization, app_user, outbox CASCADE');
  const tenant = await seedTestDatabase(database);
  const pool = recorder.watch(
    createPool(database.systemUrl, { connectionsMax: 5, applicationName: 'plans' }),
  );
  const scope = systemScope(pool);
  return {
    store: new PostgresStore(scope, { fleets: new FleetReader() }),
    tenant,
    takeWakeUps: async () => {
      const { rows } = await owner.query<{ kind: 'volume' | 'cluster'; target_id: string }>(
        'DELETE FROM outbox RETURNING kind, target_id',
      );
      return rows.map(
        ({ kind, target_id }): WakeUp =>
          kind === 'volume' ? { kind, volumeId: asId(target_id) } : { kind, clusterId: asId(target_id) },
      );
    },
    proofOf: holderProof,
    events: () => transaction(scope, storedEvents),
    setSetting: async (name, value) => {
      const ports = { access: postgresAccess(scope, tenant.organizationId), clock: { now: () => NOON } };
      await changeSetting(ports, tenant.clusterId, { name, value });
    },
    setQuota: async (of, limits) => {
      const id = of === 'project' ? tenant.projectId : tenant.organizationId;
      await transaction(scope, (sql) => setQuotaLimits(sql, id, { limits, fromVersion: 1 }));
    },
    stop: () => pool.end(),
  };
}

const FOLDERS = ['store', 'webhooks', 'alerts'].map((name) => `packages/database/src/${name}`);
const OPTIMISED = /^\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b/;

test.each(FOLDERS)('every statement of %s was recorded', (place) => {
  const folder = path.join(repositoryRoot, place);
  const files = fs.readdirSync(folder).filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'));
  const senders = files.flatMap((name) =>
    fs
      .readFileSync(path.join(folder, name), 'utf8')
      .split('\n')
      .flatMap((line, index) => (/\bsql\.query\b/.test(line) ? [`${place}/${name}:${index + 1}`] : [])),
  );
  expect(senders.length).toBeGreaterThan(1);
  expect(senders.filter((line) => !recorder.lines.has(line))).toEqual([]);
});

describe('in a large cluster', () => {
  beforeAll(async () => {
    const under = await makeStore();
    await makeOneOfEach(under);
    await makeHistory(owner, under.tenant.clusterId);
    await fillCluster(owner, under.tenant.clusterId);
    await under.stop();
  });

  test('no statement reads all of a table that grows with it', async () => {
    const system = new pg.Client({ connectionString: database.systemUrl });
    await system.connect();
    const findings = await findingsOf(system);
    await system.end();
    expect(findings).toEqual([]);
  });

  test.each([
    'volume_reconcile_due_idx',
    'volume_hash_check_idx',
    'volume_hashing_idx',
    'volume_attached_node_id_idx',
    'replica_volume_id_idx',
    'replica_node_id_idx',
    'rebuild_volume_id_queued_at_idx',
    'event_cluster_id_at_idx',
    'webhook_delivery_webhook_id_state_transaction_id_event_id_idx',
    'alert_cluster_id_resolved_at_idx',
    'replica_disk_id_idx',
    'volume_copies_differ_idx',
  ])('without %s one would', async (index) => {
    await owner.query('BEGIN');
    await owner.query(`DROP INDEX ${index}`);
    const findings = await findingsOf(owner);
    await owner.query('ROLLBACK');
    expect(findings).not.toEqual([]);
  });
});

/** Which recorded statements read all of something, each with the line that sends it, its text and its plan. */
async function findingsOf(client: pg.Client): Promise<string[]> {
  const judge = await judgeOf(owner);
  const findings: string[] = [];
  for (const { text, sentFrom } of recorder.statements.filter(({ text }) => OPTIMISED.test(text))) {
    const { rows } = await client.query(explainText(text));
    const [{ Plan: plan }] = rows[0]['QUERY PLAN'];
    const found = planFindings(plan, judge);
    if (found.length === 0) continue;
    findings.push(`${sentFrom}: ${found.join('; ')}\n${text}\n${JSON.stringify(plan, null, 1)}`);
  }
  return findings;
}

/** A whole volume at rest, served, with a snapshot and a rebuild that has ended. */
async function makeOneOfEach({ store, tenant }: StoreUnderTest): Promise<void> {
  const diskId = asId<DiskId>(testId(501));
  const { nodeId } = await store.recordHeartbeat(
    tenant.clusterId,
    aHeartbeat('node-1', { disks: [aDiskReport(diskId)] }),
  );
  const volume = anIdleVolume(tenant, { lifecycle: attachedOn(nodeId), epoch: 1 });
  const { id: volumeId } = volume;
  const rebuild = aRebuild({
    clusterId: tenant.clusterId,
    volumeId,
    state: 'succeeded',
    finishedAt: NOON,
    startedAt: NOON,
  });
  await store.commit({ kind: 'new' }, [
    { kind: 'volume.create', volume },
    { kind: 'replica.create', replica: aReplica({ volumeId, nodeId, diskId }), booking: undefined },
    { kind: 'snapshot.create', snapshot: aSnapshot({ volumeId }) },
    { kind: 'rebuild.create', rebuild },
  ]);
  const engines = [anEngineReport({ volumeId, epoch: 1 })];
  await store.recordHeartbeat(
    tenant.clusterId,
    aHeartbeat('node-1', { disks: [aDiskReport(diskId)], engines }),
  );
  await owner.query(`UPDATE volume SET reconcile_due_at = NULL, integrity_checked_at = now()`);
}
