// The measured cluster: a real Postgres and a real worker process, agents that answer at once, and the rows. What agents
// would write every two seconds, the times of their last heartbeats, one statement writes for all that live.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { type EngineReport, heartbeatSchema } from '@holdfast/core/model/agent-protocol.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { postgresAccess } from '@holdfast/database/access/postgres-access.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import type { EmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import type { LocalSeed } from '@holdfast/database/seed-local.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { noteListening } from '@holdfast/database/store/listening.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import {
  copyVolumes,
  engineReports,
  heartbeatOf,
  readTemplate,
  renumberNodes,
  type Template,
} from './cluster-rows.js';
import { GIB, idOf, loadOfNodes, type NodeLoad, type Shape } from './cluster-shape.js';
import { type FakeAgents, startFakeAgents } from './fake-agents.js';
import { pidOf, serverCpuSeconds } from './process-usage.js';

const TEMPLATE = 'template-volume';
/** The name of this process's connections, whose work does not count. */
const OWN = 'bench';
const BEAT_MS = 2_000;
const LISTEN_MS = 1_000;
const REST_TIMEOUT_MS = 300_000;

export type MeasuredCluster = {
  readonly shape: Shape;
  readonly seed: LocalSeed;
  readonly store: PostgresStore;
  readonly pool: Pool;
  readonly agents: FakeAgents;
  readonly loads: readonly NodeLoad[];
  readonly report: (volume: number) => EngineReport;
  readonly workerPid: () => number;
  /** CPU seconds of the server so far, without what this process has it do. */
  readonly serverCpuSeconds: () => Promise<number>;
  /** CPU seconds that the server has spent for this process so far. */
  readonly ownServerCpuSeconds: () => Promise<number>;
  /** From now on nothing is heard of the node. */
  readonly silence: (node: number) => void;
  readonly stop: () => Promise<void>;
};

type Database = { postgres: EmbeddedPostgres; systemUrl: string; ownerUrl: string; seed: LocalSeed };

export async function startCluster(shape: Shape, database: Database): Promise<MeasuredCluster> {
  const { postgres, systemUrl, seed } = database;
  const pool = createPool(systemUrl, { connectionsMax: 8, applicationName: OWN });
  const scope = systemScope(pool);
  const agents = await startFakeAgents();
  const silent = new Set<number>();
  const beat = () =>
    pool.query('UPDATE node SET last_heartbeat_at = now() WHERE id <> ALL($1)', [
      [...silent].map((node) => idOf('node', node)),
    ]);
  await noteListening(scope);
  const timers = [
    setInterval(() => void noteListening(scope).catch(() => undefined), LISTEN_MS),
    setInterval(() => void beat().catch(() => undefined), BEAT_MS),
  ];
  const template = await makeRows(shape, database, agents);
  const worker = await startWorker(systemUrl);
  await untilRest(pool, shape.volumes);
  return {
    shape,
    seed,
    store: new PostgresStore(scope),
    pool,
    agents,
    loads: loadOfNodes(shape),
    report: engineReports(template, shape),
    workerPid: () => pidOf(worker),
    serverCpuSeconds: async () => serverCpuSeconds(postgres.pid, await ownBackends(pool)),
    ownServerCpuSeconds: async () =>
      serverCpuSeconds(postgres.pid, new Set()) - serverCpuSeconds(postgres.pid, await ownBackends(pool)),
    silence: (node) => silent.add(node),
    stop: async () => {
      for (const timer of timers) clearInterval(timer);
      await stopWorker(worker);
      await agents.stop();
      await pool.end();
    },
  };
}

/** On connections of its own, whose work is over before anything is measured. */
async function makeRows(
  shape: Shape,
  { systemUrl, ownerUrl, seed }: Database,
  agents: FakeAgents,
): Promise<Template> {
  const pool = createPool(systemUrl, { connectionsMax: 2, applicationName: OWN });
  const store = new PostgresStore(systemScope(pool));
  await setSetting(pool, seed, 'replica-replenishment-wait-interval', 0);
  for (let node = 0; node < shape.nodes; node += 1) {
    const heartbeat = heartbeatOf(shape, node, { controlUrl: agents.urlOf(node) });
    await store.recordHeartbeat(seed.clusterId, heartbeat);
  }
  await renumberNodes(pool, seed);
  const worker = await startWorker(systemUrl);
  await untilReady(pool, shape);
  const volumeId = await makeTemplate(store, seed, shape, agents);
  await untilRest(pool, 1);
  await stopWorker(worker);
  const template = await readTemplate(pool, volumeId);
  await removeTemplate(pool, volumeId);
  await copyVolumes(pool, template, shape);
  await pool.end();
  const owner = createPool(ownerUrl, { connectionsMax: 1, applicationName: OWN });
  await owner.query('VACUUM ANALYZE');
  await owner.query('CHECKPOINT');
  await owner.end();
  return template;
}

async function setSetting(
  pool: Pool,
  { organizationId, clusterId }: LocalSeed,
  name: string,
  value: unknown,
) {
  const access = postgresAccess(systemScope(pool), organizationId);
  await changeSetting({ access, clock: systemClock }, clusterId, { name, value });
}

async function startWorker(systemUrl: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/worker/dist/main.js')], {
    env: {
      ...process.env,
      DATABASE_SYSTEM_URL: systemUrl,
      HOLDFAST_WORKER_PORT: '0',
      HOLDFAST_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 2, 'inherit'],
  });
  await once(child, 'spawn');
  return child;
}

async function stopWorker(worker: ChildProcess): Promise<void> {
  if (worker.exitCode !== null) return;
  const ended = once(worker, 'exit');
  worker.kill('SIGTERM');
  await ended;
}

async function makeTemplate(store: PostgresStore, seed: LocalSeed, shape: Shape, agents: FakeAgents) {
  const { organizationId, projectId, clusterId } = seed;
  const ports = { store, clock: systemClock, random: systemRandom };
  const owner = { organizationId, projectId, clusterId };
  const { volumeId } = await createVolume(ports, { ...owner, name: TEMPLATE, sizeBytes: GIB });
  const view = await store.loadVolume(volumeId);
  const used = new Set(view?.replicas.map(({ nodeId }) => nodeId));
  const node = loadOfNodes({ ...shape, volumes: 0 }).findIndex(
    (_, at) => !used.has(asId<NodeId>(idOf('node', at))),
  );
  await requestAttach(ports, { volumeId, nodeId: asId<NodeId>(idOf('node', node)) });
  const engine = await until('the template is served', async () => agents.lastEngine());
  await until('the template is attached', async () =>
    (await store.loadVolume(volumeId))?.volume.lifecycle.state === 'attached' ? true : undefined,
  );
  const heartbeat = heartbeatOf(shape, node, { controlUrl: agents.urlOf(node) });
  await store.recordHeartbeat(clusterId, heartbeatSchema.parse({ ...heartbeat, engines: [engine] }));
  return volumeId;
}

async function removeTemplate(pool: Pool, volumeId: string): Promise<void> {
  await pool.query('DELETE FROM replica WHERE volume_id = $1', [volumeId]);
  await pool.query('DELETE FROM volume WHERE id = $1', [volumeId]);
  await pool.query('DELETE FROM outbox');
}

async function untilReady(pool: Pool, { nodes }: Shape): Promise<void> {
  await until('all nodes are ready', async () => {
    const { rows } = await pool.query(
      `SELECT count(*) AS ready FROM node WHERE conditions @> '[{"type": "Ready", "status": "True"}]'`,
    );
    return rows[0].ready === nodes ? true : undefined;
  });
}

/** Until the worker has looked at every volume, and nothing is left to do. */
async function untilRest(pool: Pool, volumes: number): Promise<void> {
  await until('the volumes are at rest', async () => {
    const { rows } = await pool.query(
      `SELECT count(*) AS resting FROM volume
       WHERE state = 'attached' AND robustness = 'healthy' AND chain IS NOT NULL AND reconcile_due_at IS NULL
         AND NOT EXISTS (SELECT FROM reconcile_fan_out) AND NOT EXISTS (SELECT FROM outbox)`,
    );
    return rows[0].resting === volumes ? true : undefined;
  });
}

export async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + REST_TIMEOUT_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`it does not come about that ${what}`);
    await sleep(100);
  }
}

async function ownBackends(pool: Pool): Promise<ReadonlySet<number>> {
  const { rows } = await pool.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE application_name = $1',
    [OWN],
  );
  return new Set(rows.map(({ pid }) => pid));
}
