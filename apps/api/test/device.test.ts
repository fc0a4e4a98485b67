/** Sign-in of programs without a browser: a code, its approval by a session, and one token. */

import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { pruneHistory } from '@holdfast/database/store/prune.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let session: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  const body = { email: api.seed.email, password: api.seed.password };
  session = String((await api.call('POST', '/sessions', { token: null, body })).body.token);
});
afterAll(() => api?.stop());

async function start(): Promise<Json> {
  const answer = await api.call('POST', '/device/start', { token: null, body: { name: 'a CLI' } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}
const approve = (code: unknown, token = session) => api.call('POST', `/device/${code}/approve`, { token });
const ask = (deviceCode: unknown) => api.call('POST', '/device/token', { token: null, body: { deviceCode } });

describe('a program signs in', () => {
  test('it waits for its user, then gets one token that acts as the user, and no second one', async () => {
    const { deviceCode, userCode, verificationUriComplete } = await start();
    expect(String(verificationUriComplete)).toContain(`/device#${userCode}`);
    expect(await ask(deviceCode)).toMatchObject({ status: 409, body: { code: 'device.waiting' } });
    const seen = await api.call('GET', `/device/${userCode}`, { token: session });
    expect(seen).toMatchObject({ status: 200, body: { name: 'a CLI', address: api.address } });
    expect(await approve(String(userCode).toLowerCase().replace('-', ''))).toMatchObject({ status: 200 });
    const { status, body } = await ask(deviceCode);
    expect(status).toBe(200);
    const me = await api.call('GET', '/sessions/current', { token: String(body.token) });
    expect(me).toMatchObject({ status: 200, body: { role: 'owner', tokenId: body.tokenId } });
    expect(await ask(deviceCode)).toMatchObject({ status: 404, body: { code: 'device.not_found' } });
    const { rows } = await api.owner.query(
      `SELECT actor_kind FROM audit_entry WHERE action LIKE '%/device/%' ORDER BY id`,
    );
    expect(rows.map(({ actor_kind }) => actor_kind)).toEqual(['user/session', 'user/device']);
  });

  test('a code is approved once, and by a session only', async () => {
    const { userCode } = await start();
    expect(await approve(userCode, api.seed.token)).toMatchObject({ status: 403 });
    expect(await approve(userCode)).toMatchObject({ status: 200 });
    expect(await approve(userCode)).toMatchObject({ status: 404 });
  });

  test('after its time it is worth nothing', async () => {
    const { deviceCode, userCode } = await start();
    await api.owner.query(`UPDATE device_login SET expires_at = now() - interval '1 s'`);
    expect(await approve(userCode)).toMatchObject({ status: 404 });
    expect(await ask(deviceCode)).toMatchObject({ status: 404 });
  });
});

describe('a code can not be guessed', () => {
  test('it is one of twenty billion, and a second program has another one', async () => {
    const codes = await Promise.all(Array.from({ length: 20 }, async () => String((await start()).userCode)));
    expect(new Set(codes).size).toBe(20);
    for (const code of codes) expect(code).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
  });

  test('after ten guesses a user waits, with the right code too', async () => {
    await api.owner.query('DELETE FROM sign_in_limit');
    const { userCode } = await start();
    const statuses: number[] = [];
    for (let guess = 0; guess < 12; guess += 1)
      statuses.push((await approve(`BCDF-BCD${'BCDFGHJKLMNP'[guess]}`)).status);
    expect(statuses).toEqual([...Array(10).fill(404), 429, 429]);
    expect(await approve(userCode)).toMatchObject({ status: 429 });
    await api.owner.query('DELETE FROM sign_in_limit');
    expect(await approve(userCode)).toMatchObject({ status: 200 });
  });

  test('the code that a user is shown is not what its program asks with, and approves no other program', async () => {
    const [approved, other] = [await start(), await start()];
    await approve(approved.userCode);
    expect(await ask(approved.userCode)).toMatchObject({ status: 404 });
    expect(await ask(other.deviceCode)).toMatchObject({ status: 409, body: { code: 'device.waiting' } });
  });
});

test('a member who was removed gets no token, although the code was approved', async () => {
  const { deviceCode, userCode } = await start();
  await approve(userCode);
  await api.owner.query('DELETE FROM membership');
  expect(await ask(deviceCode)).toMatchObject({ status: 404 });
});

test('one address can have so many codes open, and no more', async () => {
  await api.owner.query('DELETE FROM device_login');
  const begin = () => api.call('POST', '/device/start', { token: null, body: { name: 'many' } });
  for (let count = 0; count < 50; count += 1) expect((await begin()).status).toBe(201);
  expect(await begin()).toMatchObject({ status: 429 });
});

test('what was not used in time is deleted, and what still may be is kept', async () => {
  const pool = createPool(api.database.systemUrl, { connectionsMax: 1, applicationName: 'prune' });
  // What other suites on this database have left behind.
  await pruneHistory(systemScope(pool), new Date());
  await api.owner.query('DELETE FROM device_login');
  await start();
  await api.owner.query(
    `INSERT INTO device_login (secret_hash, user_code, name, address, expires_at)
     VALUES ('h', 'OVER', 'late', '127.0.0.1', now() - interval '1 s')`,
  );
  await api.owner.query(
    `INSERT INTO invitation (id, organization_id, email, role, secret_hash, invited_by, created_at, expires_at)
     VALUES (gen_random_uuid(), $1, 'late@example.test', 'viewer', 'i', gen_random_uuid(), now(), now() - interval '1 s')`,
    [api.seed.organizationId],
  );
  await api.owner.query(`DELETE FROM sign_in_limit`);
  for (const table of ['sign_in_limit', 'request_permit']) {
    const later = Date.now() + 60_000;
    await api.owner.query(`INSERT INTO ${table} VALUES ('over', 1, 1), ('runs', 1, $1)`, [later]);
  }
  const pruned = await pruneHistory(systemScope(pool), new Date());
  await pool.end();
  expect(pruned).toMatchObject({ invitations: 2, counts: 2 });
  expect((await api.owner.query('SELECT FROM device_login')).rowCount).toBe(1);
});

test('the code and the secret are hashed or short-lived: the database holds no secret', async () => {
  const { rows } = await api.owner.query('SELECT to_jsonb(d)::text AS text FROM device_login d');
  expect(JSON.stringify(rows)).not.toContain('hfd_');
});
