/** What-ifs that take long hold up nothing else, end when their caller goes away, and are refused when there are too many. */
import { setTimeout as delay } from 'node:timers/promises';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

/** Shapes that fit ten thousand times each: a second or two of one core each. */
const MEBIBYTE = 1024 * 1024;
const heavy = (shapes: number): Json => ({
  volumes: Array.from({ length: shapes }, () => ({ count: 1, size: MEBIBYTE })),
  add: { nodes: [{ name: 'new', disks: [{ size: 1024 ** 4 }], count: 20 }] },
  howManyMore: true,
});
/** More than the pool has threads and places. */
const TOO_MANY = 8;

let api: OwnApi;
let origin: string;
let simulate: string;

beforeAll(async () => {
  api = await OwnApi.begin();
  simulate = `/clusters/${api.seed.clusterId}/placements/simulate`;
  origin = await api.app.fastify.listen({ port: 0, host: '127.0.0.1' });
});
afterAll(async () => {
  api.app.fastify.server.closeAllConnections();
  await api.stop();
});

test('other requests and heartbeats are answered while one is worked out', async () => {
  let isOver = false;
  const held = api.call('POST', simulate, { body: heavy(2) }).finally(() => {
    isOver = true;
  });
  let answered = 0;
  while (!isOver) {
    expect((await fetch(`${origin}/livez`)).status).toBe(200);
    await api.node('node-a', 'zone-a');
    if (!isOver) answered += 1;
    await delay(20);
  }
  expect(await held).toMatchObject({ status: 200, body: { shapes: expect.any(Array) } });
  expect(answered).toBeGreaterThan(5);
});

test('one whose caller goes away ends, and the next is answered at once', async () => {
  const caller = new AbortController();
  const headers = { authorization: `Bearer ${TEST_SECRETS.token}`, 'content-type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify(heavy(50)), signal: caller.signal };
  const left = fetch(`${origin}/api/v1${simulate}`, request).catch((error: Error) => error.name);
  await delay(500);
  caller.abort();
  expect(await left).toBe('AbortError');
  const began = Date.now();
  expect((await api.call('POST', simulate, { body: {} })).status).toBe(200);
  // Alone it would hold the only thread for as long as a job may take.
  expect(Date.now() - began).toBeLessThan(10_000);
});

test('one more than the pool takes is refused, and may be asked again', async () => {
  const answers = await Promise.all(
    Array.from({ length: TOO_MANY }, () => api.call('POST', simulate, { body: heavy(1) })),
  );
  const refused = answers.filter(({ status }) => status === 503);
  expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1);
  expect(refused.length).toBeGreaterThanOrEqual(1);
  expect(refused[0]).toMatchObject({
    headers: { 'retry-after': '1' },
    body: { code: 'compute.busy', retryable: true },
  });
});
