// A cluster of ten thousand volumes behind a real API and a real console: the volumes are rows, of which the API has made some and
// the others are copies. Nothing runs them; reports of rebuilds are written as heartbeats would.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { migrate } from '@holdfast/database/migrate.js';
import { prepareRoles } from '@holdfast/database/roles.js';
import { type LocalSeed, seedLocal } from '@holdfast/database/seed-local.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { CHANGE_CHANNEL } from '@holdfast/database/store/wake-up-set.js';
import { copyVolume } from '@holdfast/testkit/copied-volumes.js';
import { freePortBlock, repositoryRoot } from '@holdfast/testkit/local-stack.js';
import { addFleet, type FleetSize } from '../api/fleet.js';
import { startApi } from '../api/start-api.js';

const READY_TIMEOUT_MS = 30_000;
/** Made by the API, each at places of its own. */
const TEMPLATES = 100;
const SIZE_BYTES = 2 ** 30;
const REPORT_MS = 1_000;

export type ClusterSize = FleetSize & { readonly volumes: number };

export type LargeCluster = {
  readonly consoleUrl: string;
  readonly seed: LocalSeed;
  /** Calls the API below the cluster, as the admin. */
  readonly call: (method: string, pathInCluster: string, body?: unknown) => Promise<Record<string, unknown>>;
  readonly pool: Pool;
  readonly stop: () => Promise<void>;
};

export async function startLargeCluster(size: ClusterSize): Promise<LargeCluster> {
  const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'holdfast-bench-'));
  // As root, Postgres runs as another system user and has to reach its data in there.
  fs.chmodSync(scratch, 0o755);
  const postgres = await startEmbeddedPostgres({ directory: path.join(scratch, 'postgres') });
  const children: ChildProcess[] = [];
  await migrate(postgres.url);
  const urls = await prepareRoles(postgres.url);
  const secrets = { password: 'bench', token: 'hf_bench', agentToken: 'hf_bench_agent' };
  const seed = await seedLocal(urls.systemUrl, secrets);
  const pool = createPool(urls.systemUrl, { connectionsMax: 2, applicationName: 'bench' });
  await addFleet(pool, seed, size);
  const api = await startApi(urls, children);
  const origin = `http://127.0.0.1:${api.port}`;
  const call = caller(`${origin}/api/v1/clusters/${seed.clusterId}`, seed.token);
  await makeVolumes(pool, call, size.volumes);
  const owner = createPool(postgres.url, { connectionsMax: 1, applicationName: 'bench' });
  await owner.query('VACUUM ANALYZE');
  await owner.end();
  const consoleUrl = await startConsole(origin, children);
  return {
    consoleUrl,
    seed,
    call,
    pool,
    stop: async () => {
      for (const child of children) child.kill('SIGTERM');
      await pool.end();
      await postgres.stop();
      fs.rmSync(scratch, { recursive: true, force: true });
    },
  };
}

function caller(base: string, token: string): LargeCluster['call'] {
  return async (method, pathInCluster, body) => {
    const answer = await fetch(`${base}${pathInCluster}`, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    });
    // What is read of an answer is checked where it is read.
    const value = (await answer.json()) as Record<string, unknown>;
    if (!answer.ok) throw new Error(`${method} ${pathInCluster}: ${JSON.stringify(value)}`);
    return value;
  };
}

/** All detached and whole, as a worker leaves them. */
async function makeVolumes(pool: Pool, call: LargeCluster['call'], count: number): Promise<void> {
  const templates = Math.min(TEMPLATES, count);
  for (let made = 0; made < templates; made += 1)
    await call('POST', '/volumes', { name: `volume-${made}`, size: SIZE_BYTES, numberOfReplicas: 3 });
  await pool.query(`UPDATE volume SET state = 'detached', robustness = 'healthy', reconcile_due_at = NULL`);
  await pool.query('UPDATE replica SET provisioned = true, healthy_at = now(), last_healthy_at = now()');
  await pool.query('DELETE FROM outbox');
  const { rows } = await pool.query<{ id: string }>('SELECT id FROM volume ORDER BY name');
  for (const [at, { id }] of rows.entries()) {
    const names = Array.from({ length: Math.ceil(count / templates) - 1 }, (_, n) => `volume-${at}-${n}`);
    await copyVolume(pool, { volumeId: id, names });
  }
  await pool.query('UPDATE volume SET reconcile_due_at = NULL');
}

async function startConsole(apiOrigin: string, children: ChildProcess[]): Promise<string> {
  const port = await freePortBlock();
  const child = spawn(process.execPath, [path.join(repositoryRoot, 'apps/console/server.mjs')], {
    env: {
      ...process.env,
      NODE_ENV: 'production',
      HOLDFAST_CONSOLE_PORT: String(port),
      HOLDFAST_API_ORIGIN: apiOrigin,
    },
    stdio: ['ignore', fs.openSync('/dev/null', 'w'), 'inherit'],
  });
  children.push(child);
  const url = `http://127.0.0.1:${port}`;
  const deadline = Date.now() + READY_TIMEOUT_MS;
  for (;;) {
    const answer = await fetch(`${url}/readyz`).catch(() => undefined);
    if (answer?.ok === true) return url;
    if (Date.now() > deadline) throw new Error('the console is not ready');
    await sleep(50);
  }
}

/** Running rebuilds that report once a second, until the returned function is called. */
export async function reportRebuilds(
  { pool, seed }: LargeCluster,
  count: number,
): Promise<() => Promise<void>> {
  const bytes = { compared: 0, skipped: 0, sent: 0, verified: 0, total: SIZE_BYTES };
  await pool.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at, started_at)
     SELECT gen_random_uuid(), v.organization_id, v.cluster_id, v.id, r.id, r.node_id, 'running', 'copying', 2,
       v.size_bytes, $2, now(), now()
     FROM (SELECT * FROM volume ORDER BY name LIMIT $1) v
     CROSS JOIN LATERAL (SELECT * FROM replica WHERE volume_id = v.id ORDER BY id LIMIT 1) r`,
    [count, JSON.stringify(bytes)],
  );
  const report = () =>
    pool.query(
      `WITH told AS (
         UPDATE rebuild SET percent = (percent::int + 1) % 100, rate_bytes_per_second = 50000000
         WHERE state = 'running' RETURNING volume_id)
       SELECT pg_notify('${CHANGE_CHANNEL}', concat_ws(' ', $1::text, $2::text, 'rebuild', volume_id)) FROM told`,
      [seed.organizationId, seed.clusterId],
    );
  const timer = setInterval(() => void report().catch(() => undefined), REPORT_MS);
  return async () => {
    clearInterval(timer);
    await pool.query('DELETE FROM rebuild');
  };
}
