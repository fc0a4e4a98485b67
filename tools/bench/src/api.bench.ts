// The API beside what the same machine gives without it. A real Postgres with its durable defaults, a real API process, and a
// client that shares the machine with both; the baseline is bare fastify and pg that send the statements which the API was seen
// to send, in the same run and by turns.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles, type RoleUrls } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import type { BarePlan } from './api/bare-server.js';
import { measureCreates, volumeBody } from './api/creates.js';
import { addFleet } from './api/fleet.js';
import { get, load } from './api/load.js';
import { PAGE, recordRequests } from './api/recorded-requests.js';
import { CONNECTIONS, measurePair, ROUNDS } from './api/rounds.js';
import { type Process, startApi } from './api/start-api.js';
import { measureStreams } from './api/streams.js';
import { peakMemoryBytes, pidOf } from './reconcile/process-usage.js';
import { report } from './report.js';
import type { RunOptions } from './run-options.js';

const NODES = 250;
const DISKS_PER_NODE = 4;
const DISKS = NODES * DISKS_PER_NODE;
const ZONES = 3;
const MIB = 2 ** 20;
/** Of what the bare server does. */
const READ_RATIO = 0.7;
/** Of the rate without traces. */
const TRACED_RATIO = 0.9;
const LIST_P99_MS = 60;
const PROCESS_MIB = 250;

export async function run({ quick }: RunOptions): Promise<void> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: path.join(scratch, 'postgres') });
  const children: ChildProcess[] = [];
  try {
    await migrate(postgres.url);
    const urls = await prepareRoles(postgres.url);
    const secrets = { password: 'bench', token: 'hf_bench', agentToken: 'hf_bench_agent' };
    const seed = await seedLocal(urls.systemUrl, secrets);
    const system = createPool(urls.systemUrl, { connectionsMax: 1, applicationName: 'bench' });
    await addFleet(system, seed, { nodes: NODES, disksPerNode: DISKS_PER_NODE, zones: ZONES });
    const record = () => recordRequests({ urls, seed, system, newVolume: volumeBody });
    const created = await record();
    const api = await startApi(urls, children);
    const bare = await startBare(created.plan, scratch, children);
    const ports = { api: api.port, bare: bare.port };
    const { clusterId, token } = seed;
    await measureCreates({ system, ports, clusterId, token, disks: DISKS, count: quick ? 1_000 : 10_000 });
    await analyze(postgres.url);
    const recorded = await record();
    await measureReads({ api, seed, recorded, scratch, children, quick });
    await measureTracing({ api, urls, seed, recorded, children, quick });
    await measureStreams({ ...api, token });
    const value = peakMemoryBytes(api.pid) / MIB;
    const row = { bench: 'api', case: 'api process, all of the above' };
    report({ ...row, metric: 'peak memory', value, unit: 'MiB', target: PROCESS_MIB, better: 'lower' });
    await system.end();
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

type ReadLoad = {
  readonly api: Process;
  readonly seed: LocalSeed;
  readonly recorded: Awaited<ReturnType<typeof recordRequests>>;
  readonly scratch: string;
  readonly children: ChildProcess[];
  readonly quick: boolean;
};

async function measureReads({ api, seed, recorded, scratch, children, quick }: ReadLoad): Promise<void> {
  const bare = await startBare(recorded.plan, scratch, children);
  const ports = { api: api.port, bare: bare.port };
  const pairOf = (kind: 'get' | 'list', urls: readonly string[]) => ({
    ports,
    api: (index: number) => get(urls[index % urls.length] ?? '', seed.token),
    bare: (index: number) => get(`/${kind}/${index}`, seed.token),
    ratioTarget: READ_RATIO,
    status: 200,
  });
  const one = pairOf('get', recorded.gets);
  await measurePair({ ...one, name: 'GET a volume', count: quick ? 500 : 4_000 });
  const list = { ...pairOf('list', recorded.lists), p99Target: LIST_P99_MS };
  await measurePair({ ...list, name: `GET a list of ${PAGE} volumes`, count: quick ? 100 : 1_000 });
}

/** The same requests to a second API process that exports a trace of each, beside the one that exports none. */
async function measureTracing({
  api,
  urls,
  seed,
  recorded,
  children,
  quick,
}: Omit<ReadLoad, 'scratch'> & { urls: RoleUrls }): Promise<void> {
  const receiver = http.createServer((request, response) => {
    request.resume().once('end', () => response.end());
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  const address = receiver.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  const exporting = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${address.port}` };
  const traced = await startApi(urls, children, exporting);
  const kinds = [
    { name: 'GET a volume', addresses: recorded.gets, count: quick ? 500 : 4_000 },
    { name: `GET a list of ${PAGE} volumes`, addresses: recorded.lists, count: quick ? 100 : 1_000 },
  ];
  for (const { name, addresses, count } of kinds) {
    const ask = (index: number) => get(addresses[index % addresses.length] ?? '', seed.token);
    // The other process has answered as many by now: code that is compiled against code that is not would be no comparison.
    await load({ port: traced.port, connections: CONNECTIONS, count: (ROUNDS + 1) * count, request: ask });
    const ports = { api: traced.port, bare: api.port };
    const pair = { ports, api: ask, bare: ask, ratioTarget: TRACED_RATIO, status: 200, count };
    await measurePair({ ...pair, name: `${name}, traced beside untraced` });
  }
  receiver.close();
  receiver.closeAllConnections();
}

async function analyze(ownerUrl: string): Promise<void> {
  const owner = createPool(ownerUrl, { connectionsMax: 1, applicationName: 'bench' });
  await owner.query('VACUUM ANALYZE');
  await owner.query('CHECKPOINT');
  await owner.end();
}

async function startBare(plan: BarePlan, scratch: string, children: ChildProcess[]): Promise<Process> {
  const file = path.join(scratch, `plan-${children.length}.json`);
  fs.writeFileSync(file, JSON.stringify(plan));
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'api', 'bare-server.js'), file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const port = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
  return { port, pid: pidOf(child) };
}
