/** Two API processes on one database: each remembers the fleet for itself, and neither over-books what the other books. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ClusterId } from '@holdfast/core/model/ids.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aDiskReport, aHeartbeat, testId } from '@holdfast/testkit/builders.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  TEST_SECRETS,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const VOLUMES = 60;
const SIZE_BYTES = 7 * GIB;
const DISK_BYTES = 100 * GIB;
const FIT_PER_DISK = Math.floor(DISK_BYTES / SIZE_BYTES);

type Answer = { status: number; scheduled: string | undefined };

const processes: ChildProcess[] = [];
let database: TestDatabase;
let owner: pg.Client;
let clusterId: ClusterId;
let system: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  ({ clusterId } = await seedTestDatabase(database));
  system = createPool(database.systemUrl, { connectionsMax: 1, applicationName: 'test' });
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

afterAll(async () => {
  for (const child of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null) await once(child, 'exit');
  }
  await system?.end();
  await owner?.end();
  await database?.stop();
});

test('creating at once, they fill the disks to their limits and no further', async () => {
  const origins = await Promise.all([startApi(), startApi()]);
  for (const number of [1, 2, 3]) await addNode(number);
  await makeNodesReady(owner);
  const answers = await Promise.all(
    Array.from({ length: VOLUMES }, async (_, n): Promise<Answer> => {
      const url = `${origins[n % 2]}/clusters/${clusterId}/volumes`;
      const answer = await post(url, { name: `v-${n}`, size: SIZE_BYTES });
      // A volume, or a problem without conditions.
      const body = (await answer.json()) as { conditions?: { status: string }[] };
      return { status: answer.status, scheduled: body.conditions?.[0]?.status };
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(VOLUMES).fill(201));
  expect(answers.filter(({ scheduled }) => scheduled === 'True')).toHaveLength(FIT_PER_DISK);

  const { rows } = await owner.query(
    `SELECT d.storage_scheduled_bytes::text AS booked, sum(r.size_bytes)::text AS held
     FROM disk d JOIN replica r ON r.disk_id = d.id GROUP BY d.id`,
  );
  const full = String(FIT_PER_DISK * SIZE_BYTES);
  expect(rows).toEqual(Array(3).fill({ booked: full, held: full }));
});

async function startApi(): Promise<string> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  await new Promise((resolve) => server.close(resolve));
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_API_PORT: String(port),
      HOLDFAST_LOG_LEVEL: 'silent',
      DATABASE_URL: database.apiUrl,
      DATABASE_SYSTEM_URL: database.systemUrl,
    },
    stdio: 'ignore',
  });
  processes.push(child);
  const origin = `http://127.0.0.1:${port}`;
  while ((await fetch(`${origin}/readyz`).catch(() => undefined))?.status !== 200) await delay(50);
  return `${origin}/api/v1`;
}

async function post(url: string, body: object): Promise<Response> {
  const headers = { authorization: `Bearer ${TEST_SECRETS.token}`, 'content-type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** A node in a zone of its own, with one disk. */
async function addNode(number: number): Promise<void> {
  const report = aDiskReport(asId(testId(500 + number)), {
    maximumBytes: DISK_BYTES,
    availableBytes: DISK_BYTES,
  });
  const heartbeat = aHeartbeat(`node-${number}`, { node: { zone: `zone-${number}` }, disks: [report] });
  await new PostgresStore(systemScope(system)).recordHeartbeat(clusterId, heartbeat);
}
