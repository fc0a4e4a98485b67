/** What tokens may be used for, and how they end. */
import { setTimeout as pause } from 'node:timers/promises';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let url: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  url = `http://127.0.0.1:${await api.listen()}`;
});
afterAll(() => api?.stop());

const HOUR_MS = 3_600_000;
const inHours = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();

async function token(body: Json, maker: string = api.seed.token): Promise<{ id: string; token: string }> {
  const made = await api.call('POST', '/tokens', { token: maker, body: { name: 'test', ...body } });
  if (made.status !== 201) throw new Error(JSON.stringify(made.body));
  return { id: String(made.body.id), token: String(made.body.token) };
}

const statusOf = async (method: string, path: string, secret: string, body?: Json) =>
  (await api.call(method, path, { token: secret, ...(body === undefined ? {} : { body }) })).status;

describe('a token is limited', () => {
  test('to reading, in REST and in GraphQL', async () => {
    const { token: secret } = await token({ readOnly: true });
    expect(await statusOf('GET', api.volumes, secret)).toBe(200);
    expect(await statusOf('POST', api.volumes, secret, { name: 'no', size: GIB })).toBe(403);
    expect(await statusOf('POST', '/tokens', secret, { name: 'no' })).toBe(403);
    const { body } = await api.graphql(
      `mutation ($clusterId: ID!) { createVolume(clusterId: $clusterId, input: { name: "no", size: ${GIB} }) { id } }`,
      {},
      secret,
    );
    expect(body.errors[0].extensions.code).toBe('auth.forbidden');
  });

  test('to the actions that it names', async () => {
    const { token: secret } = await token({ actions: ['volume:read', 'cluster:read'] });
    expect(await statusOf('GET', api.volumes, secret)).toBe(200);
    expect(await statusOf('GET', `/clusters/${api.seed.clusterId}/nodes`, secret)).toBe(403);
    expect(await statusOf('POST', api.volumes, secret, { name: 'no', size: GIB })).toBe(403);
  });

  test('to clusters: others are not there, and none is made', async () => {
    const other = await api.call('POST', '/clusters', { body: { name: 'other' } });
    const { token: secret } = await token({ clusterIds: [other.body.id] });
    expect(await statusOf('GET', `/clusters/${other.body.id}/volumes`, secret)).toBe(200);
    expect(await statusOf('GET', api.volumes, secret)).toBe(404);
    expect(await statusOf('PATCH', `/clusters/${api.seed.clusterId}`, secret, { name: 'no' })).toBe(404);
    expect(await statusOf('POST', '/clusters', secret, { name: 'third' })).toBe(403);
    const listed = await api.call('GET', '/clusters', { token: secret });
    expect(listed.body.items?.map(({ id }) => id)).toEqual([other.body.id]);
  });

  test('to projects: volumes of others are not there, nor what belongs to them', async () => {
    const project = await api.call('POST', '/projects', { body: { name: 'beside' } });
    const inside = await api.createVolume({ projectId: project.body.id });
    const outside = await api.createVolume({ projectId: api.seed.projectId });
    const { token: secret } = await token({ projectIds: [project.body.id], projectId: project.body.id });
    expect(await statusOf('GET', `${api.volumes}/${inside.id}`, secret)).toBe(200);
    expect(await statusOf('GET', `${api.volumes}/${outside.id}`, secret)).toBe(404);
    expect(await statusOf('DELETE', `${api.volumes}/${outside.id}`, secret)).toBe(404);
    const events = await api.call('GET', `/clusters/${api.seed.clusterId}/events`, { token: secret });
    expect(JSON.stringify(events.body)).toContain(String(inside.id));
    expect(JSON.stringify(events.body)).not.toContain(String(outside.id));
    const create = { name: 'elsewhere', size: GIB, projectId: api.seed.projectId };
    expect(await statusOf('POST', api.volumes, secret, create)).toBe(422);
  });

  test('to the addresses that it names', async () => {
    const far = await token({ addressRanges: ['192.0.2.0/24', 'fd00::/8'] });
    const near = await token({ addressRanges: [String(api.address)] });
    expect(await statusOf('GET', api.volumes, far.token)).toBe(403);
    expect(await statusOf('GET', api.volumes, near.token)).toBe(200);
  });

  test.each([
    { what: 'a range that is none', body: { addressRanges: ['10.0.0.0/33'] } },
    { what: 'an action that is none', body: { actions: ['volume:break'] } },
    { what: 'no clusters at all', body: { clusterIds: [] } },
    { what: 'a longer life than any', body: { expiresAt: inHours(24 * 366) } },
  ])('not by $what', async ({ body }) => {
    expect(await api.call('POST', '/tokens', { body: { name: 'no', ...body } })).toMatchObject({
      status: 422,
      body: { code: 'request.invalid' },
    });
  });
});

describe('a token that is made with another one', () => {
  test('has its limits, and no more life than it', async () => {
    const parent = await token({ actions: ['volume:read', 'token:own'], expiresAt: inHours(2) });
    const child = await api.call('POST', '/tokens', { token: parent.token, body: { name: 'child' } });
    expect(child).toMatchObject({
      status: 201,
      body: { actions: ['volume:read', 'token:own'], parentId: parent.id },
    });
    expect(Date.parse(String(child.body.expiresAt))).toBeLessThanOrEqual(Date.parse(inHours(2)));
    const refusals = [
      [{ expiresAt: inHours(3) }, 422],
      [{ actions: ['volume:write'] }, 403],
    ] as const;
    for (const [body, status] of refusals) {
      expect(await statusOf('POST', '/tokens', parent.token, { name: 'no', ...body })).toBe(status);
    }
  });

  test('may be used from no wider range', async () => {
    const parent = await token({ addressRanges: ['10.0.0.0/8'] });
    expect(
      await statusOf('POST', '/tokens', parent.token, { name: 'no', addressRanges: ['0.0.0.0/0'] }),
    ).toBe(403);
    expect(
      await statusOf('POST', '/tokens', parent.token, { name: 'ok', addressRanges: [String(api.address)] }),
    ).toBe(201);
  });

  test('ends with it', async () => {
    const parent = await token({});
    const child = await token({}, parent.token);
    expect(await statusOf('DELETE', `/tokens/${parent.id}`, api.seed.token)).toBe(204);
    expect(await statusOf('GET', api.volumes, child.token)).toBe(401);
  });
});

describe("a token's secret", () => {
  test('is replaced, and the old one stops working at once', async () => {
    const before = await token({ role: 'viewer' });
    const rotated = await api.call('POST', `/tokens/${before.id}/rotate`);
    expect(rotated).toMatchObject({ status: 200, body: { id: before.id, role: 'viewer' } });
    expect(await statusOf('GET', api.volumes, before.token)).toBe(401);
    expect(await statusOf('GET', api.volumes, String(rotated.body.token))).toBe(200);
  });

  test('of a stronger or freer token is not to be had by rotating it', async () => {
    const strong = await token({ role: 'owner' });
    const admin = await token({ role: 'admin' });
    const reader = await token({ actions: ['token:own'] });
    for (const weak of [admin, reader]) {
      expect(await statusOf('POST', `/tokens/${strong.id}/rotate`, weak.token)).toBe(403);
    }
  });

  test('of a token that lives longer is not to be had by rotating it, nor that of the token it was made with', async () => {
    const year = await token({});
    const hour = await token({ expiresAt: inHours(1) }, year.token);
    const child = await token({}, year.token);
    const beside = await token({ expiresAt: inHours(2) });
    for (const [by, of] of [
      [hour, year],
      [hour, beside],
      [child, year],
    ] as const) {
      const refused = await api.call('POST', `/tokens/${of.id}/rotate`, { token: by.token });
      expect(refused).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
      expect(refused.body.detail).toContain('outlives');
    }
    expect(await statusOf('POST', `/tokens/${hour.id}/rotate`, hour.token)).toBe(200);
    expect(await statusOf('POST', `/tokens/${child.id}/rotate`, year.token)).toBe(200);
  });

  test('is not kept for a repeat of the request', async () => {
    const once = () =>
      api.call('POST', '/tokens', { body: { name: 'once' }, headers: { 'idempotency-key': 'secret-once' } });
    const first = await once();
    const secret = String(first.body.token);
    expect(await once()).toMatchObject({ status: 409, body: { code: 'idempotency.secret_not_kept' } });
    const { rows } = await api.owner.query('SELECT body FROM idempotency_key');
    expect(JSON.stringify(rows)).not.toContain(secret);
  });
});

/** Longer than the pause between two looks at the tokens of open streams. */
const CHECKED_MS = 4_000;

describe('event streams', () => {
  test('end within seconds when their token is revoked, and not before', async () => {
    const { id, token: secret } = await token({});
    const { close, ended } = await openStream(secret);
    const first = await Promise.race([ended.then(() => 'ended'), pause(CHECKED_MS, 'open')]);
    await api.call('DELETE', `/tokens/${id}`);
    await ended;
    expect(first).toBe('open');
    close();
  });

  test('end within seconds when the secret that they were opened with is replaced, and no others', async () => {
    const { id, token: secret } = await token({});
    const before = await openStream(secret);
    const rotated = await api.call('POST', `/tokens/${id}/rotate`);
    const after = await openStream(String(rotated.body.token));
    await before.ended;
    expect(await Promise.race([after.ended.then(() => 'ended'), pause(CHECKED_MS, 'open')])).toBe('open');
    after.close();
  });

  test('end within seconds when the roles of their user change', async () => {
    const secret = await api.tokenOfRole('viewer');
    const { userId } = (await api.call('GET', '/sessions/current', { token: secret })).body;
    const { close, ended } = await openStream(secret);
    const path = `/projects/${api.seed.projectId}/members/${userId}`;
    const first = await Promise.race([ended.then(() => 'ended'), pause(CHECKED_MS, 'open')]);
    expect((await api.call('PUT', path, { body: { role: 'operator' } })).status).toBe(200);
    await ended;
    expect(first).toBe('open');
    close();
  });

  test('are as many as a token may have, and no more', async () => {
    const { token: secret } = await token({});
    const opened = await Promise.all(Array.from({ length: 40 }, () => openStream(secret)));
    const statuses = opened.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(32);
    expect(statuses.filter((status) => status === 429)).toHaveLength(8);
    for (const { close } of opened) close();
  });
});

async function openStream(secret: string) {
  const stopped = new AbortController();
  const answer = await fetch(`${url}/api/v1/clusters/${api.seed.clusterId}/events/stream`, {
    headers: { authorization: `Bearer ${secret}` },
    signal: stopped.signal,
  });
  const reader = answer.body?.getReader();
  const ended = (async () => {
    while ((await reader?.read())?.done === false);
  })().catch(() => undefined);
  return { status: answer.status, ended, close: () => stopped.abort() };
}

test('every answer tells browsers to run and frame nothing of it', async () => {
  const { headers } = await api.call('GET', '/clusters');
  expect(headers).toMatchObject({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-frame-options': 'DENY',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
});
