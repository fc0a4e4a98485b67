/** What one organization makes slow takes nothing that another one needs: connections, threads, waiting callers. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Answer, ApiFixture, type Json } from './api-fixture.js';

/** More than there are connections, threads and places in line for both. */
const MANY = 30;
const MEBIBYTE = 1024 * 1024;

let api: ApiFixture;
let other: { clusterId: string; token: string };
let blocker: pg.Client;

beforeAll(async () => {
  api = await ApiFixture.start();
  other = await api.otherTenant();
  blocker = new pg.Client({ connectionString: api.database.ownerUrl });
  await blocker.connect();
});
afterEach(() => blocker.query('ROLLBACK'));
afterAll(async () => {
  await blocker?.end();
  await api?.stop();
});

test('requests of one organization that hang in the database leave connections to another one', async () => {
  const volume = await api.createVolume();
  await blocker.query('BEGIN');
  await blocker.query('SELECT FROM volume WHERE id = $1 FOR UPDATE', [volume.id]);
  const attach = () => api.call('POST', `${api.volumes}/${volume.id}/attach`, { body: {} });
  const hanging = Array.from({ length: MANY }, attach);
  const answers: Answer[] = [];
  // One after the other: each of them would wait behind those that hang.
  for (let n = 0; n < MANY; n += 1) {
    answers.push(await api.call('GET', `/clusters/${other.clusterId}/volumes`, { token: other.token }));
  }
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  await blocker.query('ROLLBACK');
  for (const { status } of await Promise.all(hanging)) expect([200, 202, 409, 503]).toContain(status);
});

test("one organization's what-ifs leave the next turn to another one", async () => {
  const heavy: Json = {
    volumes: [{ count: 1, size: MEBIBYTE }],
    add: { nodes: [{ name: 'new', disks: [{ size: 1024 ** 4 }], count: 20 }] },
    howManyMore: true,
  };
  const ended: string[] = [];
  const simulate = async (name: string, clusterId: string, token?: string, body: Json = {}) => {
    const path = `/clusters/${clusterId}/placements/simulate`;
    const answer = await api.call('POST', path, { body, ...(token === undefined ? {} : { token }) });
    ended.push(name);
    return answer;
  };
  const own = Array.from({ length: 4 }, (_, n) => simulate(`own ${n}`, api.seed.clusterId, undefined, heavy));
  const theirs = await simulate('theirs', other.clusterId, other.token);
  expect(theirs.status).toBe(200);
  await Promise.all(own);
  expect(ended.indexOf('theirs')).toBeLessThan(2);
});

test('a verification that can not be waited for is answered as running, and one too many is refused', async () => {
  const volumes = await Promise.all(Array.from({ length: 34 }, () => api.createVolume()));
  await api.owner.query(`UPDATE volume SET state = 'detached' WHERE id = ANY($1)`, [
    volumes.map(({ id }) => id),
  ]);
  const verify = (volume: Json | undefined) => api.call('POST', `${api.volumes}/${volume?.id}/verify`);
  const cancel = (volume: Json | undefined) => api.call('POST', `${api.volumes}/${volume?.id}/cancel-verify`);
  const first = volumes.slice(0, 32);
  const waiting = first.map(verify);
  await untilRunning(32);
  expect(await verify(volumes[32])).toMatchObject({
    status: 429,
    headers: { 'retry-after': '10' },
    body: { code: 'request.rate_limited' },
  });
  // Asked again about one that runs: no place is left to wait in.
  expect(await verify(first[0])).toMatchObject({ status: 202, body: { state: 'running' } });
  expect(await cancel(first[0])).toMatchObject({ status: 200, body: { verification: { state: 'failed' } } });
  expect(await waiting[0]).toMatchObject({
    status: 200,
    body: { state: 'failed', message: 'a user ended it' },
  });
  for (const volume of first.slice(1)) await cancel(volume);
  for (const { status } of await Promise.all(waiting)) expect(status).toBe(200);
});

async function untilRunning(count: number): Promise<void> {
  const sql = `SELECT FROM volume WHERE verification->>'state' = 'running'`;
  while ((await api.owner.query(sql)).rowCount !== count);
}
