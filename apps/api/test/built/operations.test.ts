/** What an api process tells its operator: metrics by route and code, and who made a request in the line of its log. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '@holdfast/testkit/eventually.js';
import { freePort } from '@holdfast/testkit/free-port.js';
import {
  seedTestDatabase,
  startTestDatabase,
  TEST_SECRETS,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';

const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));
const TOKEN = 'a-token-of-the-operator';
const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';

let database: TestDatabase;
let seed: Awaited<ReturnType<typeof seedTestDatabase>>;
let api: ChildProcess;
let origin: string;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  database = await startTestDatabase();
  seed = await seedTestDatabase(database);
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  api = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env.PATH,
      HOLDFAST_API_PORT: String(port),
      HOLDFAST_METRICS_TOKEN: TOKEN,
      DATABASE_URL: database.apiUrl,
      DATABASE_SYSTEM_URL: database.systemUrl,
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (api.stdout === null) throw new Error('no output');
  createInterface({ input: api.stdout }).on('line', (line) => lines.push(JSON.parse(line)));
  const isReady = () =>
    fetch(`${origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await eventually('the API is ready', isReady, (ready) => ready);
});
afterAll(async () => {
  if (api?.exitCode === null) {
    api.kill('SIGKILL');
    await once(api, 'exit');
  }
  await database?.stop();
});

const ask = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${TEST_SECRETS.token}`, ...headers } });
const readMetrics = async () => (await ask('/metrics', { authorization: `Bearer ${TOKEN}` })).text();

test('metrics are told to the holder of their token alone, by routes and codes', async () => {
  for (const headers of [{}, { authorization: '' }]) {
    const refused = await ask('/metrics', headers);
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: 'auth.forbidden' });
  }
  const volumes = `/api/v1/clusters/${seed.clusterId}/volumes`;
  const missing = [randomUUID(), randomUUID()];
  for (const id of missing) expect((await ask(`${volumes}/${id}`)).status).toBe(404);
  for (const id of missing) expect((await ask(`/nothing/${id}`)).status).toBe(404);
  const text = await readMetrics();
  const route = '/api/v1/clusters/:clusterId/volumes/:volumeId';
  expect(text).toContain(`holdfast_http_requests_total{method="GET",route="${route}",status="404"} 2\n`);
  expect(text).toContain('holdfast_http_requests_total{method="GET",route="unmatched",status="404"} 2\n');
  expect(text).toContain('holdfast_http_refusals_total{code="volume.not_found"} 2\n');
  expect(text).toContain('holdfast_event_streams 0\n');
  expect(text).toContain('holdfast_database_slots{state="waiting"} 0\n');
  // Whatever is asked for, no id of it becomes a label.
  for (const id of [...missing, seed.clusterId, seed.organizationId]) expect(text).not.toContain(id);
});

test('a line of the log names the request, its trace, and who made it', async () => {
  const requestId = 'a-request-to-find';
  await ask('/api/v1/sessions/current', {
    'x-request-id': requestId,
    traceparent: `00-${TRACE}-00f067aa0ba902b7-01`,
  });
  await fetch(`${origin}/graphql`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${TEST_SECRETS.token}`,
      'content-type': 'application/json',
      'x-request-id': 'a-query-to-find',
    },
    body: JSON.stringify({ query: '{ clusters { edges { node { id } } } }' }),
  });
  const lineOf = (id: string) =>
    eventually(
      `the line of ${id}`,
      () => lines.find((line) => line.requestId === id),
      (line) => line !== undefined,
    );
  const caller = {
    organizationId: seed.organizationId,
    userId: expect.any(String),
    tokenId: expect.any(String),
  };
  expect(await lineOf(requestId)).toMatchObject({ ...caller, traceId: TRACE, status: 200 });
  expect(await lineOf('a-query-to-find')).toMatchObject({ ...caller, url: '/graphql' });
  expect(JSON.stringify(lines)).not.toContain(TEST_SECRETS.token);
});
