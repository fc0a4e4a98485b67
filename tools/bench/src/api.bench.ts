// Volumes created per second over HTTP with their placement committed, on 1,000 disks: a real Postgres with its
// durable defaults, a real API process, and a client that shares the machine with both. The baseline is what the same
// client gets from a bare HTTP server that commits one INSERT a request.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Figure } from '@holdfast/data-engine/bench/figure.js';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles, type RoleUrls } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { freePortBlock, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { type Answer, load, post } from './api/load.js';
import { percentile, report } from './report.js';
import type { RunOptions } from './run-options.js';

const NODES = 250;
const DISKS_PER_NODE = 4;
const DISKS = NODES * DISKS_PER_NODE;
const ZONES = 3;
const REPLICAS = 3;
const GIB = 2 ** 30;
const CONNECTIONS = 32;
const VOLUMES_PER_SECOND = 300;
const SERVER_TIMING = /server-timing: wait;dur=([\d.]+), decide;dur=([\d.]+), commit;dur=([\d.]+)/;
const READY_TIMEOUT_MS = 30_000;

type CaseRow = Pick<Figure, 'bench' | 'case'>;

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
    const owner = createPool(postgres.url, { connectionsMax: 2, applicationName: 'bench' });
    const system = createPool(urls.systemUrl, { connectionsMax: 1, applicationName: 'bench' });
    await addFleet(system, seed);
    const baseline = await measureBaseline(owner, urls.apiUrl, children, quick ? 1_000 : 5_000);
    const port = await startApi(urls, children);
    await measureCreates({ system, port, seed, baseline, count: quick ? 1_000 : 6_000 });
    await Promise.all([owner.end(), system.end()]);
  } finally {
    for (const child of children) child.kill('SIGTERM');
    await postgres.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}

async function addFleet(pool: Pool, { organizationId, clusterId }: LocalSeed): Promise<void> {
  const ready = JSON.stringify(
    ['Ready', 'Schedulable'].map((type) => ({
      type,
      status: 'True',
      reason: '',
      message: '',
      lastTransitionAt: '2026-01-01T00:00:00.000Z',
    })),
  );
  await pool.query(
    `INSERT INTO node (id, organization_id, cluster_id, name, zone, conditions, control_url, boot_id,
       last_heartbeat_at, created_at)
     SELECT gen_random_uuid(), $1, $2, 'node-' || n, 'zone-' || n % $4, $5, 'http://127.0.0.1:1', gen_random_uuid(),
       now(), now()
     FROM generate_series(1, $3) n`,
    [organizationId, clusterId, NODES, ZONES, ready],
  );
  await pool.query(
    `INSERT INTO disk (id, organization_id, cluster_id, node_id, name, path, type, file_system,
       storage_maximum_bytes, storage_available_bytes, conditions, created_at)
     SELECT gen_random_uuid(), n.organization_id, n.cluster_id, n.id, 'disk-' || d, '/disks/' || d, 'filesystem', 'ext4',
       4000 * $2::bigint, (3000 + (d * 7919 + hashtext(n.name)) % 500) * $2::bigint, $3, now()
     FROM node n, generate_series(1, $1) d`,
    [DISKS_PER_NODE, GIB, ready],
  );
  await pool.query('ANALYZE');
}

async function measureBaseline(
  owner: Pool,
  apiUrl: string,
  children: ChildProcess[],
  count: number,
): Promise<number> {
  await owner.query(
    'CREATE TABLE bench_insert (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body jsonb NOT NULL)',
  );
  await owner.query('GRANT INSERT ON bench_insert TO holdfast_api');
  const child = spawn(process.execPath, [path.join(import.meta.dirname, 'api', 'baseline.js'), apiUrl], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  const port = Number(await new Promise((resolve) => child.stdout.once('data', resolve)));
  const request = (index: number) => post('/', 'hf_bench', volumeBody(index));
  await load({ port, connections: CONNECTIONS, count: 200, request });
  const { perSecond } = await load({ port, connections: CONNECTIONS, count, request });
  child.kill('SIGTERM');
  report({ bench: 'api', case: 'bare HTTP and INSERT', metric: 'requests', value: perSecond, unit: '/s' });
  return perSecond;
}

async function startApi({ apiUrl, systemUrl }: RoleUrls, children: ChildProcess[]): Promise<number> {
  const port = await freePortBlock();
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/api/dist/main.js')], {
    env: {
      ...process.env,
      HOLDFAST_API_PORT: String(port),
      HOLDFAST_LOG_LEVEL: 'info',
      DATABASE_URL: apiUrl,
      DATABASE_SYSTEM_URL: systemUrl,
    },
    stdio: ['ignore', fs.openSync('/dev/null', 'w'), 'inherit'],
  });
  children.push(child);
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return port;
    if (Date.now() > deadline) throw new Error('the API is not ready');
    await sleep(50);
  }
}

type CreateLoad = {
  readonly system: Pool;
  readonly port: number;
  readonly seed: LocalSeed;
  readonly baseline: number;
  readonly count: number;
};

async function measureCreates({ system, port, seed, baseline, count }: CreateLoad): Promise<void> {
  const address = `/api/v1/clusters/${seed.clusterId}/volumes`;
  const requestFrom = (first: number) => (index: number) =>
    post(address, seed.token, volumeBody(first + index));
  const warm = 300;
  await load({ port, connections: CONNECTIONS, count: warm, request: requestFrom(0) });
  const answers: Answer[] = [];
  const { perSecond, statuses } = await load({
    port,
    connections: CONNECTIONS,
    count,
    request: requestFrom(warm),
    onAnswer: (answer) => answers.push(answer),
  });
  await checkPlacements(system, warm + count, statuses);
  const row = { bench: 'api', case: `create, ${DISKS} disks, ${REPLICAS} replicas` };
  report({ ...row, metric: 'volumes', value: perSecond, unit: '/s', baseline, target: VOLUMES_PER_SECOND });
  const times = answers.map(({ ms }) => ms).sort((a, b) => a - b);
  reportParts(row, answers);
  report({ ...row, metric: 'answer p50', value: percentile(times, 0.5), unit: 'ms' });
  report({ ...row, metric: 'answer p99', value: percentile(times, 0.99), unit: 'ms' });
}

/**
 * Parts of an answer's time by the API's own Server-Timing: the wait for a transaction, the decision, the commit, and
 * HTTP, which is everything else between the client's two ends.
 */
function reportParts(row: CaseRow, answers: readonly Answer[]): void {
  const sums = { http: 0, wait: 0, decide: 0, commit: 0 };
  for (const { head, ms } of answers) {
    const [, wait, decide, commit] = SERVER_TIMING.exec(head)?.map(Number) ?? [];
    if (wait === undefined || decide === undefined || commit === undefined)
      throw new Error(`an answer does not say what took its time: ${head}`);
    sums.http += ms - wait - decide - commit;
    sums.wait += wait;
    sums.decide += decide;
    sums.commit += commit;
  }
  for (const [part, sum] of Object.entries(sums)) {
    report({ ...row, metric: `mean ms in ${part}`, value: sum / answers.length, unit: 'ms' });
  }
}

/** Checks that every volume was answered 201, is Scheduled, and has its replicas on disks that have booked them. */
async function checkPlacements(
  system: Pool,
  volumes: number,
  statuses: ReadonlyMap<number, number>,
): Promise<void> {
  const { rows } = await system.query(
    `SELECT (SELECT count(*) FROM volume WHERE conditions @> '[{"type": "Scheduled", "status": "True"}]') AS scheduled,
       (SELECT count(*) FROM replica WHERE disk_id IS NOT NULL) AS placed,
       (SELECT sum(storage_scheduled_bytes)::bigint FROM disk) AS booked`,
  );
  const [{ scheduled, placed, booked }] = rows;
  const isRight =
    statuses.size === 1 &&
    statuses.has(201) &&
    scheduled === volumes &&
    placed === volumes * REPLICAS &&
    booked === volumes * REPLICAS * GIB;
  if (!isRight) throw new Error(`not all were placed: ${JSON.stringify([...statuses, rows[0]])}`);
}

function volumeBody(index: number): object {
  return { name: `bench-${index}`, size: GIB, numberOfReplicas: REPLICAS };
}
