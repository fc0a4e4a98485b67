// The worker at 1,000 nodes and 100,000 volumes, which are all attached and have three copies: how long it takes from a
// node's death to the last of its rebuilds in the queue, and what such a cluster costs while nothing happens.
//
// Postgres, its store and the worker process are real. Agents answer HTTP calls at once. Heartbeats are counted apart: while
// the cluster idles one statement writes what they would, and what a heartbeat without news costs is a case of its own.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { asId, type DiskId, type NodeId } from '@holdfast/core/model/ids.js';
import { systemRandom } from '@holdfast/database/clock-and-random.js';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { seedLocal } from '@holdfast/database/seed-local.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { type RepeatedHeartbeat, recordRepeats } from '@holdfast/database/store/heartbeat-repeats.js';
import { bareReads, bareTransactions, type Work } from './reconcile/bare-postgres.js';
import { heartbeatOf } from './reconcile/cluster-rows.js';
import { diskIdOf, engineNode, idOf, replicaIdOf, type Shape } from './reconcile/cluster-shape.js';
import { type MeasuredCluster, startCluster, until } from './reconcile/measured-cluster.js';
import { cpuSecondsOf, peakMemoryBytes } from './reconcile/process-usage.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const FULL: Shape = { nodes: 1_000, disksPerNode: 2, volumes: 100_000 };
const QUICK: Shape = { nodes: 40, disksPerNode: 2, volumes: 2_000 };
const QUEUED_SECONDS = 30;
const IDLE_PERCENT = 5;
const WORKER_BYTES = 2 ** 30;
/** After a start the worker has the fleet to read, and Postgres its caches to fill. */
const SETTLE_MS = 15_000;
const DEAD = 3;
const BEATS = 40;
/** Time for which an API process gathers heartbeats, and batches that are measured: enough for a tick of the CPU's clock to be small. */
const BATCH_SECONDS = 0.2;
const REPEAT_BATCHES = 200;
const REPEAT_CORES = 0.5;
const REPORTS_AT_ONCE = 4;
const BEATS_PER_SECOND_OF_NODE = 0.5;

export async function run({ quick }: RunOptions): Promise<void> {
  const shape = quick ? QUICK : FULL;
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: path.join(scratch, 'postgres') });
  let cluster: MeasuredCluster | undefined;
  try {
    await migrate(postgres.url);
    const { systemUrl } = await prepareRoles(postgres.url);
    const secrets = { password: 'bench', token: 'hf_bench', agentToken: 'hf_bench_agent' };
    const seed = await seedLocal(systemUrl, secrets);
    cluster = await startCluster(shape, { postgres, systemUrl, ownerUrl: postgres.url, seed });
    await sleep(quick ? 2_000 : SETTLE_MS);
    await measureIdle(cluster, quick ? 10 : 60);
    await measureHeartbeats(cluster);
    await measureRepeats(cluster);
    await measureDeath(cluster, systemUrl);
  } finally {
    await cluster?.stop();
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

function caseOf({ shape }: MeasuredCluster, name: string) {
  return { bench: 'reconcile', case: `${name}, ${shape.nodes} nodes, ${shape.volumes} volumes` };
}

async function measureIdle(cluster: MeasuredCluster, seconds: number): Promise<void> {
  const row = { ...caseOf(cluster, 'idle'), unit: '% of a core' };
  const before = { worker: cpuSecondsOf(cluster.workerPid()), server: await cluster.serverCpuSeconds() };
  const startedAt = performance.now();
  await sleep(seconds * 1000);
  const percent = (from: number, to: number) => (100_000 * (to - from)) / (performance.now() - startedAt);
  const worker = percent(before.worker, cpuSecondsOf(cluster.workerPid()));
  const server = percent(before.server, await cluster.serverCpuSeconds());
  const baseline = await bareReads(cluster);
  report({ ...row, metric: 'worker', value: worker });
  report({ ...row, metric: 'Postgres', value: server });
  report({
    ...row,
    metric: 'worker and Postgres',
    value: worker + server,
    baseline,
    target: IDLE_PERCENT,
    better: 'lower',
  });
}

/** Heartbeats that say all that a node holds, and nothing new. */
async function measureHeartbeats(cluster: MeasuredCluster): Promise<void> {
  const { shape, seed, store } = cluster;
  const row = caseOf(cluster, 'heartbeat without news');
  const beats = Array.from({ length: Math.min(BEATS, shape.nodes) }, (_, node) =>
    fullHeartbeat(cluster, node),
  );
  const startedAt = performance.now();
  const before = await ownCpuSeconds(cluster);
  for (const heartbeat of beats) await store.recordHeartbeat(seed.clusterId, heartbeat);
  const ms = (performance.now() - startedAt) / beats.length;
  const cpuMs = (1000 * ((await ownCpuSeconds(cluster)) - before)) / beats.length;
  report({ ...row, metric: 'one after the other', value: ms, unit: 'ms' });
  report({ ...row, metric: 'CPU of each', value: cpuMs, unit: 'ms' });
  const cores = (ms / 1000) * shape.nodes * BEATS_PER_SECOND_OF_NODE;
  report({ ...row, metric: 'one each 2 s of every node', value: cores, unit: 'cores' });
}

/**
 * The same, as agents send it: they name the report before, in batches as an API process stores them. Each disk is in use, so two of five name
 * a stamp of each disk too.
 */
async function measureRepeats(cluster: MeasuredCluster): Promise<void> {
  const { shape, pool } = cluster;
  const row = caseOf(cluster, 'heartbeat that names the report before');
  const batch = Math.max(1, Math.round(shape.nodes * BEATS_PER_SECOND_OF_NODE * BATCH_SECONDS));
  await pool.query(
    `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
     SELECT id, organization_id, cluster_id, name, 'key of ' || name, now(), now() + interval '1 day' FROM node`,
  );
  await pool.query('UPDATE node SET report_id = id');
  await pool.query('DELETE FROM stale_report');
  let enough = 0;
  const before = await ownCpuSeconds(cluster);
  for (let round = 0; round < REPEAT_BATCHES; round += 1) {
    const repeats = Array.from({ length: batch }, (_, at) =>
      repeatOf(cluster, (round * batch + at) % shape.nodes, round),
    );
    enough += (await recordRepeats(systemScope(pool), repeats)).size;
  }
  const ms = (1000 * ((await ownCpuSeconds(cluster)) - before)) / (batch * REPEAT_BATCHES);
  report({ ...row, metric: 'taken', value: (100 * enough) / (batch * REPEAT_BATCHES), unit: '%' });
  report({ ...row, metric: 'CPU of each, in batches', value: ms, unit: 'ms' });
  const cores = (ms / 1000) * shape.nodes * BEATS_PER_SECOND_OF_NODE;
  report({
    ...row,
    metric: 'one each 2 s of every node',
    value: cores,
    unit: 'cores',
    target: REPEAT_CORES,
    better: 'lower',
  });
}

/** CPU of this process and of what it has the server do: the statement that stands for agents' heartbeats is in it. */
async function ownCpuSeconds({ ownServerCpuSeconds }: MeasuredCluster): Promise<number> {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6 + (await ownServerCpuSeconds());
}

function repeatOf(cluster: MeasuredCluster, node: number, round: number): RepeatedHeartbeat {
  const { shape, seed, agents } = cluster;
  const isStamped = node % 5 < 2;
  const stamp = (disk: number) => ({
    diskId: asId<DiskId>(diskIdOf(shape, node, disk)),
    stamp: { id: systemRandom.id(), generation: round + 1, trail: [], isOpen: true, fileId: 'file' },
  });
  return {
    nodeId: asId<NodeId>(idOf('node', node)),
    clusterId: seed.clusterId,
    keyHash: `key of node-${node}`,
    reportId: idOf('node', node),
    name: `node-${node}`,
    bootId: idOf('boot', node),
    controlUrl: agents.urlOf(node),
    nbdHost: '127.0.0.1',
    stamps: isStamped ? Array.from({ length: shape.disksPerNode }, (_, disk) => stamp(disk)) : [],
    ageMs: () => 0,
  };
}

function fullHeartbeat(cluster: MeasuredCluster, node: number) {
  const { shape, loads, agents } = cluster;
  const load = loads[node] ?? { engines: [], copies: [] };
  return heartbeatOf(shape, node, { controlUrl: agents.urlOf(node), load, report: cluster.report });
}

async function measureDeath(cluster: MeasuredCluster, systemUrl: string): Promise<void> {
  const row = caseOf(cluster, 'a node dies');
  const lost = (cluster.loads[DEAD]?.copies ?? []).filter(
    ({ volume }) => engineNode(cluster.shape, volume) !== DEAD,
  );
  const heartbeats = reportsOfLoss(cluster, lost);
  cluster.silence(DEAD);
  await cluster.pool.query(`UPDATE node SET last_heartbeat_at = now() - interval '1 minute' WHERE id = $1`, [
    idOf('node', DEAD),
  ]);
  const before = await countWork(cluster);
  const cpuBefore = { worker: cpuSecondsOf(cluster.workerPid()), server: await cluster.serverCpuSeconds() };
  const startedAt = performance.now();
  await inParallel(heartbeats, (heartbeat) =>
    cluster.store.recordHeartbeat(cluster.seed.clusterId, heartbeat),
  );
  const reported = (performance.now() - startedAt) / 1000;
  const queuedAt = await until('all rebuilds are queued', async () => {
    const { rows } = await cluster.pool.query('SELECT count(DISTINCT volume_id) AS queued FROM rebuild');
    return rows[0].queued === lost.length ? performance.now() : undefined;
  });
  const seconds = (queuedAt - startedAt) / 1000;
  const workerCpu = cpuSecondsOf(cluster.workerPid()) - cpuBefore.worker;
  const serverCpu = (await cluster.serverCpuSeconds()) - cpuBefore.server;
  const after = await countWork(cluster);
  const work = {
    transactions: after.transactions - before.transactions,
    writing: after.writing - before.writing,
    writes: after.writes - before.writes,
  };
  await checkBookings(cluster, lost.length);
  const peak = peakMemoryBytes(cluster.workerPid());
  report({ ...row, metric: 'rebuilds', value: lost.length, unit: '' });
  report({ ...row, metric: 'its engines report it', value: reported, unit: 's' });
  report({ ...row, metric: 'transactions', value: work.transactions, unit: '' });
  report({ ...row, metric: 'of them writing', value: work.writing, unit: '' });
  report({ ...row, metric: 'CPU of the worker', value: workerCpu, unit: 's' });
  report({ ...row, metric: 'CPU of Postgres, without the reports', value: serverCpu, unit: 's' });
  report({
    ...row,
    metric: 'all rebuilds queued',
    value: seconds,
    unit: 's',
    baseline: await bareTransactions(systemUrl, work),
    target: QUEUED_SECONDS,
    better: 'lower',
  });
  report({
    ...row,
    metric: 'worker memory at its highest',
    value: peak / 2 ** 20,
    unit: 'MiB',
    target: WORKER_BYTES / 2 ** 20,
    better: 'lower',
  });
}

/** What the engines with a copy on the dead node report: a record without it. */
function reportsOfLoss(cluster: MeasuredCluster, lost: readonly { volume: number; copy: number }[]) {
  const lostCopy = new Map(lost.map(({ volume, copy }) => [volume, replicaIdOf(volume, copy)]));
  const after = (volume: number) => {
    const engine = cluster.report(volume);
    const gone = lostCopy.get(volume);
    if (gone === undefined) return engine;
    const members = engine.record.members.filter((id) => id !== gone);
    const number = { epoch: engine.record.epoch, dataGeneration: engine.record.dataGeneration + 1 };
    const replicas = engine.replicas.map((replica) =>
      replica.replicaId === gone ? { ...replica, mode: 'ERR' as const, reason: 'no answer' } : replica,
    );
    return { ...engine, record: { ...number, members, durable: number }, replicas };
  };
  const nodes = new Set(lost.map(({ volume }) => engineNode(cluster.shape, volume)));
  return [...nodes].map((node) => fullHeartbeat({ ...cluster, report: after }, node));
}

/** As the agents of many nodes report at once. */
async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  let next = 0;
  const runner = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item);
  };
  await Promise.all(Array.from({ length: REPORTS_AT_ONCE }, runner));
}

async function countWork({ pool }: MeasuredCluster): Promise<Work> {
  const { rows } = await pool.query<Work>(
    `SELECT xact_commit AS transactions, pg_snapshot_xmax(pg_current_snapshot())::text::bigint AS writing,
       tup_inserted + tup_updated + tup_deleted AS writes
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  if (rows[0] === undefined) throw new Error('Postgres does not say what it did');
  return rows[0];
}

/** Checks that what is booked is what there is, and that nothing was put beside another copy of its volume. */
async function checkBookings({ pool }: MeasuredCluster, wanted: number): Promise<void> {
  const { rows } = await pool.query(
    `SELECT
       (SELECT count(*) FROM disk d WHERE storage_scheduled_bytes <>
          (SELECT coalesce(sum(size_bytes), 0) FROM replica r WHERE r.disk_id = d.id)) AS wrong_bookings,
       (SELECT count(*) FROM (SELECT FROM replica GROUP BY volume_id, node_id HAVING count(*) > 1) t) AS shared_nodes,
       (SELECT count(*) FROM rebuild WHERE state IN ('queued', 'running')) AS rebuilds`,
  );
  const [{ wrong_bookings, shared_nodes, rebuilds }] = rows;
  if (wrong_bookings !== 0 || shared_nodes !== 0 || rebuilds !== wanted)
    throw new Error(`the rebuilds are not what they have to be: ${JSON.stringify(rows[0])}`);
}
