/**
 * Two api processes and two workers under load, each restarted in turn while Redis forgets its jobs: no request and no job is lost.
 *
 * The client is what a proxy is: it keeps connections open, goes elsewhere where it can't connect, and repeats nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import { hasRedis, type RedisServer, startRedis } from '@holdfast/testkit/redis-server.js';
import {
  seedTestDatabase,
  startTestDatabase,
  TEST_SECRETS,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';

const mainOf = (app: string) => fileURLToPath(new URL(`../../../${app}/dist/main.js`, import.meta.url));
const LOOPS = 3;
/** Between two requests of a loop: without it most of the time goes into volumes, and a restart meets as many requests. */
const PAUSE_MS = 25;
/** Nothing has been sent. */
const NOT_CONNECTED = 'not connected';

type Process = { app: 'api' | 'worker'; port: number; child: ChildProcess };

const processes: Process[] = [];
let database: TestDatabase;
let owner: pg.Client;
let redis: RedisServer | undefined;
let volumes: string;

beforeAll(async () => {
  database = await startTestDatabase();
  const { clusterId } = await seedTestDatabase(database);
  volumes = `/api/v1/clusters/${clusterId}/volumes`;
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  redis = hasRedis() ? await startRedis() : undefined;
  for (const app of ['api', 'api', 'worker', 'worker'] as const) {
    const port = await freePort();
    processes.push({ app, port, child: spawned(app, port) });
  }
  await Promise.all(processes.map(isReady));
});

afterAll(async () => {
  for (const { child } of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null) await once(child, 'exit');
  }
  await redis?.stop();
  await owner?.end();
  await database?.stop();
});

test('a rolling restart loses no request and no job', async () => {
  let isOver = false;
  const answers: (number | string)[] = [];
  const loops = Array.from({ length: LOOPS }, async (_, loop) => {
    for (let n = 0; !isOver; n += 1) {
      answers.push(await create(`v-${loop}-${n}`, loop + n));
      await delay(PAUSE_MS);
    }
  });
  for (const one of processes) {
    await restart(one);
    await redis?.forget();
  }
  isOver = true;
  await Promise.all(loops);
  expect(answers.filter((answer) => answer !== 201)).toEqual([]);
  expect(resets).toBeLessThan(answers.length / 100);
  const count = async (state: string) => {
    const { rows } = await owner.query('SELECT count(*)::int AS n FROM volume WHERE state = $1', [state]);
    return rows[0].n;
  };
  // Each has been looked at by a worker: there is no node to place it on.
  await eventually(
    'no volume waits for its job',
    () => count('creating'),
    (waiting) => waiting === 0,
  );
  expect(await count('detached')).toBe(answers.length);
});

function spawned(app: Process['app'], port: number): ChildProcess {
  return spawn(process.execPath, [mainOf(app)], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_LOG_LEVEL: 'silent',
      DATABASE_URL: database.apiUrl,
      DATABASE_SYSTEM_URL: database.systemUrl,
      ...(redis === undefined ? {} : { REDIS_URL: redis.url }),
      [app === 'api' ? 'HOLDFAST_API_PORT' : 'HOLDFAST_WORKER_PORT']: String(port),
    },
    stdio: 'ignore',
  });
}

async function isReady({ port }: Process): Promise<void> {
  const ready = async () => (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status;
  while ((await ready()) !== 200) await delay(50);
}

async function restart(one: Process): Promise<void> {
  const exited = once(one.child, 'exit');
  one.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  one.child = spawned(one.app, one.port);
  await isReady(one);
}

/**
 * A connection that the kernel took just before the process stopped listening. Whether its request was read is not known, so that it
 * is sent again with the same key, as proxies do.
 */
const RESET = 'ECONNRESET';
let resets = 0;

const agents = new Map<number, http.Agent>();

/** 201, or what was answered instead, or what went wrong after it was connected. */
async function create(name: string, turn: number): Promise<number | string> {
  const ports = processes.filter(({ app }) => app === 'api').map(({ port }) => port);
  const key = randomUUID();
  for (let at = turn; ; at += 1) {
    const answer = await post(ports[at % ports.length] ?? 0, { name, size: GIB }, key);
    if (answer === RESET) resets += 1;
    else if (answer !== NOT_CONNECTED) return answer;
  }
}

function post(port: number, body: object, key: string): Promise<number | string> {
  const agent = agents.get(port) ?? new http.Agent({ keepAlive: true });
  agents.set(port, agent);
  return new Promise((resolve) => {
    const headers = {
      authorization: `Bearer ${TEST_SECRETS.token}`,
      'content-type': 'application/json',
      'idempotency-key': key,
    };
    const options = { port, host: '127.0.0.1', path: volumes, method: 'POST', agent, headers };
    const request = http.request(options, (response) => {
      const { statusCode = 0 } = response;
      const body: Buffer[] = [];
      response.on('data', (part: Buffer) => body.push(part));
      response.on('end', () => resolve(statusCode === 201 ? 201 : `${statusCode} ${Buffer.concat(body)}`));
      response.on('error', (error) => resolve(String(error)));
    });
    request.on('error', (error: NodeJS.ErrnoException) =>
      resolve(error.syscall === 'connect' ? NOT_CONNECTED : error.code === RESET ? RESET : String(error)),
    );
    request.end(JSON.stringify(body));
  });
}
