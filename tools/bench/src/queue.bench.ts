// One organization asks for 20,000 volumes at once. What the others and it itself may expect meanwhile: that a dead node is told, that a
// delete and a detach are done, and that a drain is planned.
//
// Postgres, the API and the worker are real. Agents answer HTTP calls at once; one statement writes what their heartbeats would. Agents
// of the nodes that die take calls and answer none, so that only time tells of them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type EngineReport, heartbeatSchema } from '@holdfast/core/model/agent-protocol.js';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles, type RoleUrls } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { load, post } from './api/load.js';
import { type Process, startApi } from './api/start-api.js';
import { heartbeatOf } from './reconcile/cluster-rows.js';
import type { Shape } from './reconcile/cluster-shape.js';
import { type FakeAgents, startFakeAgents } from './reconcile/fake-agents.js';
import { until } from './reconcile/measured-cluster.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const QUEUED = 20_000;
const QUEUED_QUICK = 2_000;
/** Requests for volumes that are on their way at once. */
const CONNECTIONS = 32;
/** Nodes of the organization that fills, then those of the other one. */
const NODES = { filling: 40, other: 8 };
const SHAPE: Shape = { nodes: NODES.filling + NODES.other, disksPerNode: 2, volumes: 0 };
const BEAT_MS = 2_000;
const GIB = 2 ** 30;
const SIZE_BYTES = GIB;
const ROUNDS = 3;
const TOLD_SECONDS = 15;
const STARTED_SECONDS = 5;

type Owner = {
  readonly name: 'the same organization' | 'another organization';
  readonly seed: LocalSeed;
  readonly nodeIds: readonly string[];
  readonly firstNode: number;
};
type Measured = {
  api: Process;
  agents: FakeAgents;
  pool: Pool;
  store: PostgresStore;
  silent: Set<string>;
  queued: number;
};
type Answer = { status: number; body: Record<string, unknown> };

export async function run({ quick }: RunOptions): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: path.join(scratch, 'postgres') });
  const children: ChildProcess[] = [];
  let agents: FakeAgents | undefined;
  let beats: NodeJS.Timeout | undefined;
  let pool: Pool | undefined;
  try {
    await migrate(postgres.url);
    const urls = await prepareRoles(postgres.url);
    pool = createPool(urls.systemUrl, { connectionsMax: 4, applicationName: 'bench' });
    agents = await startFakeAgents();
    const silent = new Set<string>();
    beats = setInterval(() => void beat(pool, silent), BEAT_MS);
    const store = new PostgresStore(systemScope(pool));
    const api = await startApi(urls, children);
    children.push(startWorker(urls));
    const measured = { api, agents, pool, store, silent, queued: quick ? QUEUED_QUICK : QUEUED };
    await measure(measured, await makeOwners(measured, urls));
  } finally {
    clearInterval(beats);
    await stopAll(children);
    await pool?.end();
    await agents?.stop();
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

/** A statement that comes after the end is not missed. */
async function beat(pool: Pool | undefined, silent: ReadonlySet<string>): Promise<void> {
  await pool
    ?.query('UPDATE node SET last_heartbeat_at = now() WHERE id <> ALL($1)', [[...silent]])
    .catch(() => undefined);
}

function startWorker({ systemUrl }: RoleUrls): ChildProcess {
  return spawn(process.execPath, [path.join(repositoryRoot, 'apps/worker/dist/main.js')], {
    env: {
      ...process.env,
      DATABASE_SYSTEM_URL: systemUrl,
      HOLDFAST_WORKER_PORT: '0',
      HOLDFAST_LOG_LEVEL: 'warn',
    },
    stdio: ['ignore', 2, 'inherit'],
  });
}

async function stopAll(children: readonly ChildProcess[]): Promise<void> {
  await Promise.all(
    children.map(async (child) => {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    }),
  );
}

async function makeOwners(measured: Measured, { systemUrl }: RoleUrls): Promise<Owner[]> {
  const secrets = (name: string) => ({ password: name, token: `hf_${name}`, agentToken: `hf_agent_${name}` });
  const names = { email: 'other@example.org', project: 'default', cluster: 'local' };
  const filling = await seedLocal(systemUrl, secrets('filling'));
  const other = await seedLocal(systemUrl, secrets('other'), { organization: 'other', ...names });
  const parts = [
    { name: 'the same organization', seed: filling, firstNode: 0, nodes: NODES.filling },
    { name: 'another organization', seed: other, firstNode: NODES.filling, nodes: NODES.other },
  ] as const;
  const owners: Owner[] = [];
  for (const { nodes, ...owner } of parts)
    owners.push({ ...owner, nodeIds: await makeNodes(measured, owner, nodes) });
  return owners;
}

async function makeNodes(
  { store, agents, pool }: Measured,
  { seed, firstNode }: Pick<Owner, 'seed' | 'firstNode'>,
  count: number,
): Promise<string[]> {
  for (let node = firstNode; node < firstNode + count; node += 1)
    await store.recordHeartbeat(seed.clusterId, heartbeatOf(SHAPE, node, { controlUrl: agents.urlOf(node) }));
  return until('the nodes are ready', async () => {
    const { rows } = await pool.query<{ id: string }>(
      `SELECT id FROM node WHERE cluster_id = $1 AND conditions @> '[{"type": "Ready", "status": "True"}]'
       ORDER BY substr(name, 6)::int`,
      [seed.clusterId],
    );
    return rows.length === count ? rows.map(({ id }) => id) : undefined;
  });
}

async function measure(measured: Measured, owners: readonly Owner[]): Promise<void> {
  const [filling, other] = owners;
  if (filling === undefined || other === undefined) throw new Error('there are two organizations');
  // One after the other, since an engine is told by being the last one.
  const ready: string[][] = [];
  for (const owner of owners) ready.push(await makeVolumes(measured, owner));
  const asked = measured.queued;
  const address = `/api/v1/clusters/${filling.seed.clusterId}/volumes`;
  const filled = load({
    port: measured.api.port,
    connections: CONNECTIONS,
    count: asked,
    request: (index) =>
      post(address, filling.seed.token, { name: `fill-${index}`, size: SIZE_BYTES, numberOfReplicas: 3 }),
  });
  const during = `while ${asked} creations are asked for`;
  await measureRequests(measured, { owner: other, volumes: ready[1]?.splice(0, 2) ?? [], during });
  const { perSecond } = await filled;
  const row = { bench: 'queue', case: `${asked} creations queued` };
  report({ ...row, metric: 'asked for', value: perSecond, unit: '1/s' });
  report({ ...row, metric: 'waiting then', value: await waiting(measured), unit: 'volumes' });
  await Promise.all(owners.map((owner) => measureDeath(measured, owner)));
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, owner] of owners.entries())
      await measureRequests(measured, {
        owner,
        volumes: ready[index]?.splice(0, 2) ?? [],
        during: `${asked} creations queued`,
      });
  report({ ...row, metric: 'waiting at the end', value: await waiting(measured), unit: 'volumes' });
}

async function waiting({ pool }: Measured): Promise<number> {
  const { rows } = await pool.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM volume WHERE state = 'creating'`,
  );
  return rows[0]?.count ?? 0;
}

/** Volumes that are there before the others are asked for: half of them attached, by turns. */
async function makeVolumes(measured: Measured, owner: Owner): Promise<string[]> {
  const volumes = address(owner, '/volumes');
  const count = 2 * (ROUNDS + 1);
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const made = await call(measured, owner, 'POST', volumes, {
      name: `ready-${index}`,
      size: SIZE_BYTES,
      numberOfReplicas: 3,
    });
    ids.push(String(made.body.id));
  }
  for (const id of ids) await untilState(measured, owner, id, 'detached');
  const engines: EngineReport[] = [];
  for (const id of ids.filter((_, index) => index % 2 === 0)) {
    await call(measured, owner, 'POST', `${volumes}/${id}/attach`, { nodeId: owner.nodeIds[0] });
    await untilState(measured, owner, id, 'attached');
    const engine = measured.agents.lastEngine();
    if (engine !== undefined) engines.push(engine);
    await reportEngines(measured, owner, engines);
  }
  return ids;
}

/** What the agent that runs the engines says of them; it stays in the rows. */
async function reportEngines(
  { store, agents }: Measured,
  { seed, firstNode }: Owner,
  engines: readonly EngineReport[],
): Promise<void> {
  const heartbeat = heartbeatOf(SHAPE, firstNode, { controlUrl: agents.urlOf(firstNode) });
  await store.recordHeartbeat(seed.clusterId, heartbeatSchema.parse({ ...heartbeat, engines }));
}

/** A detach, a delete and the plan of a drain; each is waited for until it is done. */
async function measureRequests(
  measured: Measured,
  { owner, volumes, during }: { owner: Owner; volumes: readonly string[]; during: string },
): Promise<void> {
  const [attached, detached] = volumes;
  const row = {
    bench: 'queue',
    case: `${during}, ${owner.name}`,
    unit: 's',
    target: STARTED_SECONDS,
    better: 'lower' as const,
  };
  if (attached === undefined || detached === undefined) throw new Error('no volumes are left');
  const volume = (id: string) => address(owner, `/volumes/${id}`);
  const timed = async (metric: string, work: () => Promise<unknown>) => {
    const beganMs = performance.now();
    await work();
    report({ ...row, metric, value: (performance.now() - beganMs) / 1000 });
  };
  await timed('a detach is done', async () => {
    await call(measured, owner, 'POST', `${volume(attached)}/detach`, {});
    await untilState(measured, owner, attached, 'detached');
  });
  await timed('a delete is done', async () => {
    await call(measured, owner, 'DELETE', volume(detached));
    await until('it is gone', async () =>
      (await ask(measured, owner, 'GET', volume(detached))).status === 404 ? true : undefined,
    );
  });
  await timed('a drain is planned', () =>
    call(measured, owner, 'POST', address(owner, `/nodes/${owner.nodeIds[0]}/drain-plan`), {}),
  );
}

async function measureDeath(measured: Measured, owner: Owner): Promise<void> {
  const index = 2;
  const nodeId = owner.nodeIds[index] ?? '';
  measured.agents.hang(owner.firstNode + index);
  await measured.pool.query('UPDATE node SET last_heartbeat_at = now() WHERE id = $1', [nodeId]);
  measured.silent.add(nodeId);
  const beganMs = performance.now();
  const since = (what: string, isSo: (conditions: string) => boolean) =>
    until(what, async () => {
      const { body } = await ask(measured, owner, 'GET', address(owner, `/nodes/${nodeId}`));
      return isSo(JSON.stringify(body.conditions)) ? (performance.now() - beganMs) / 1000 : undefined;
    });
  const row = {
    bench: 'queue',
    case: `${measured.queued} creations queued, ${owner.name}`,
    unit: 's',
    better: 'lower' as const,
  };
  const shown = await since('it is shown', (text) =>
    /Answering","status":"False|Ready","status":"False/.test(text),
  );
  report({ ...row, metric: 'a machine that says nothing is shown', value: shown, target: STARTED_SECONDS });
  const told = await since('it is told', (text) => /Ready","status":"False/.test(text));
  report({ ...row, metric: 'and told dead', value: told, target: TOLD_SECONDS });
}

function address({ seed }: Owner, rest: string): string {
  return `/api/v1/clusters/${seed.clusterId}${rest}`;
}

async function untilState(measured: Measured, owner: Owner, id: string, state: string): Promise<void> {
  await until(`a volume is ${state}`, async () => {
    const { body } = await ask(measured, owner, 'GET', address(owner, `/volumes/${id}`));
    return body.state === state ? true : undefined;
  });
}

async function call(
  measured: Measured,
  owner: Owner,
  method: string,
  where: string,
  body?: object,
): Promise<Answer> {
  const answer = await ask(measured, owner, method, where, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${where}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer;
}

async function ask(
  { api }: Measured,
  { seed }: Owner,
  method: string,
  where: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${api.port}${where}`, {
    method,
    headers: {
      authorization: `Bearer ${seed.token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? {} : JSON.parse(text) };
}
