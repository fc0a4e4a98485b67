/** How sessions begin and end, and what guessing passwords costs. */
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin({ trustedProxies: ['127.0.0.1', '10.9.0.0/16'] });
});
afterAll(() => api?.stop());
beforeEach(() => api.owner.query('DELETE FROM sign_in_limit'));

const statusOf = async (method: string, path: string, secret: string, body?: Json) =>
  (await api.call(method, path, { token: secret, ...(body === undefined ? {} : { body }) })).status;

const SIGN_IN = { email: 'admin@holdfast.local', password: TEST_SECRETS.password };
const signIn = (body: Json = {}, headers: Record<string, string> = {}) =>
  api.call('POST', '/sessions', { token: null, body: { ...SIGN_IN, ...body }, headers });

describe('signing in', () => {
  test('is closed for a while after ten wrong passwords, from every address, also at once', async () => {
    const guesses = await Promise.all(
      Array.from({ length: 25 }, (_, at) =>
        signIn({ password: `guess-${at}` }, { 'x-forwarded-for': `203.0.113.${at}` }),
      ),
    );
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    expect(statuses.filter((status) => status === 429)).toHaveLength(15);
    const locked = await signIn();
    expect(locked).toMatchObject({ status: 429, body: { code: 'request.rate_limited' } });
    expect(Number(locked.headers['retry-after'])).toBeGreaterThan(60);
    await api.owner.query('UPDATE sign_in_limit SET expire = 1');
    expect((await signIn()).status).toBe(201);
  });

  test('is closed to an address that tries many accounts', async () => {
    const attempts: number[] = [];
    for (let at = 0; at < 105; at += 1) {
      attempts.push((await signIn({ email: `user-${at}@example.com` })).status);
    }
    expect(attempts.filter((status) => status === 401)).toHaveLength(100);
    expect(attempts.at(-1)).toBe(429);
  });

  test('counts no success', async () => {
    for (let at = 0; at < 15; at += 1) expect((await signIn()).status).toBe(201);
  });
});

describe('a sign-in through proxies', () => {
  const from = (remoteAddress: string, headers: Record<string, string>) =>
    api.app.fastify.inject({
      method: 'POST',
      url: '/api/v1/sessions',
      remoteAddress,
      headers,
      payload: SIGN_IN,
    });

  test.each([
    { what: 'a stranger', peer: '203.0.113.9', forwarded: '198.51.100.1', is: '203.0.113.9' },
    { what: 'a trusted proxy', peer: '127.0.0.1', forwarded: '198.51.100.1', is: '198.51.100.1' },
    {
      what: 'a proxy of a trusted network',
      peer: '::ffff:10.9.3.4',
      forwarded: '2001:db8::7',
      is: '2001:db8::7',
    },
    { what: 'a trusted proxy that tells nothing', peer: '127.0.0.1', forwarded: '', is: '127.0.0.1' },
    {
      what: 'a chain in which the user has written an address too',
      peer: '127.0.0.1',
      forwarded: '192.0.2.66, 198.51.100.1, 10.9.0.5',
      is: '198.51.100.1',
    },
    {
      what: 'a chain with a proxy that is not trusted',
      peer: '127.0.0.1',
      forwarded: '198.51.100.1, 203.0.113.50, 10.9.0.5',
      is: '203.0.113.50',
    },
  ])('that comes from $what is told of $is', async ({ peer, forwarded, is }) => {
    const headers = { 'x-forwarded-for': forwarded, 'user-agent': 'Proxied' };
    const { token: mine } = (await from(peer, headers)).json<{ token: string }>();
    const { body } = await api.call('GET', '/sessions', { token: mine });
    const { rows } = await api.owner.query('SELECT address FROM audit_entry ORDER BY at DESC LIMIT 1');
    expect(body.items?.some(({ madeFrom }) => madeFrom === `${is} Proxied`)).toBe(true);
    expect(rows[0].address).toBe(is);
  });

  test('over HTTPS by word of a trusted proxy gets a Secure cookie and HSTS', async () => {
    const https = { 'x-forwarded-proto': 'https' };
    const believed = await from('127.0.0.1', https);
    expect(String(believed.headers['set-cookie'])).toMatch(/^__Host-holdfast_session=.*; Secure/);
    expect(believed.headers['strict-transport-security']).toMatch(/^max-age=\d{8}/);
    const claimed = await from('203.0.113.9', https);
    expect(String(claimed.headers['set-cookie'])).toMatch(/^holdfast_session=(?!.*Secure)/);
    expect(claimed.headers).not.toHaveProperty('strict-transport-security');
  });

  test('takes over HTTPS no cookie that a page of plain HTTP could have planted', async () => {
    const { token: secret } = (await from('127.0.0.1', {})).json<{ token: string }>();
    const whoIs = (name: string) =>
      api.call('GET', '/sessions/current', {
        token: null,
        headers: { 'x-forwarded-proto': 'https', cookie: `${name}=${secret}` },
      });
    expect((await whoIs('holdfast_session')).status).toBe(401);
    expect((await whoIs('__Host-holdfast_session')).status).toBe(200);
  });

  test("has its page's origin compared with the host that a trusted proxy names, and no other's word", async () => {
    const { token: secret } = (await from('127.0.0.1', {})).json<{ token: string }>();
    const make = async (remoteAddress: string) => {
      const { statusCode } = await api.app.fastify.inject({
        method: 'POST',
        url: '/api/v1/projects',
        payload: { name: 'of-our-pages' },
        remoteAddress,
        headers: {
          cookie: `holdfast_session=${secret}`,
          origin: 'http://console.example',
          'x-forwarded-host': 'console.example',
        },
      });
      return statusCode;
    };
    expect([await make('203.0.113.9'), await make('127.0.0.1')]).toEqual([403, 201]);
  });
});

const WEEK_MS = 7 * 24 * 3_600_000;

describe('a session', () => {
  const whoAmI = (secret: string) => statusOf('GET', '/sessions/current', secret);

  test('ends when it was not used for a day, and after a week at the latest', async () => {
    const idle = String((await signIn()).body.token);
    await api.owner.query(
      `UPDATE token SET last_used_at = NULL, created_at = now() - interval '25 hours' WHERE kind = 'session'`,
    );
    expect(await whoAmI(idle)).toBe(401);
    const old = await signIn();
    expect(Date.parse(String(old.body.expiresAt))).toBeLessThanOrEqual(Date.now() + WEEK_MS);
  });

  test('is listed with where it was made, and ended by its user', async () => {
    const mine = String((await signIn({}, { 'user-agent': 'Browser/1' })).body.token);
    const other = String((await signIn({}, { 'user-agent': 'Browser/2' })).body.token);
    const { body } = await api.call('GET', '/sessions', { token: mine });
    const found = body.items?.find(({ madeFrom }) => madeFrom === '127.0.0.1 Browser/2');
    expect(body.items?.every(({ kind }) => kind === 'session')).toBe(true);
    expect(await statusOf('DELETE', `/sessions/${found?.id}`, mine)).toBe(204);
    expect([await whoAmI(other), await whoAmI(mine)]).toEqual([401, 200]);
    const { id } = (await api.call('POST', '/tokens', { body: { name: 'no-session' } })).body;
    expect(await statusOf('DELETE', `/sessions/${id}`, mine)).toBe(404);
  });

  test('changes the password with the old one only, which ends all other sessions', async () => {
    const mine = String((await signIn()).body.token);
    const other = String((await signIn()).body.token);
    const change = (currentPassword: string, newPassword: string) =>
      api.call('POST', '/sessions/password', { token: mine, body: { currentPassword, newPassword } });
    const sentence = 'copies in three zones';
    expect(await change('wrong password', sentence)).toMatchObject({ status: 401 });
    expect(await change(TEST_SECRETS.password, 'short')).toMatchObject({ status: 422 });
    expect(await change(TEST_SECRETS.password, 'admin admin admin')).toMatchObject({ status: 422 });
    expect(await change(TEST_SECRETS.password, sentence)).toMatchObject({ status: 204 });
    expect([await whoAmI(mine), await whoAmI(other)]).toEqual([200, 401]);
    expect([(await signIn()).status, (await signIn({ password: sentence })).status]).toEqual([401, 201]);
    expect(await change(sentence, TEST_SECRETS.password)).toMatchObject({ status: 204 });
  });

  test('of a browser has another secret once the password is changed', async () => {
    const cookieOf = ({ headers }: { headers: Json }) => String(headers['set-cookie']).split(';')[0] ?? '';
    const before = cookieOf(await signIn());
    const change = (cookie: string, currentPassword: string, newPassword: string) =>
      api.call('POST', '/sessions/password', {
        token: null,
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
        body: { currentPassword, newPassword },
      });
    const sentence = 'copies in three zones';
    const changed = await change(before, TEST_SECRETS.password, sentence);
    const after = cookieOf(changed);
    const asked = (cookie: string) =>
      api.call('GET', '/sessions/current', { token: null, headers: { cookie } });
    expect([(await asked(before)).status, (await asked(after)).status]).toEqual([401, 200]);
    expect(await change(after, sentence, TEST_SECRETS.password)).toMatchObject({ status: 204 });
  });

  test.each([
    ['another site', { 'sec-fetch-site': 'cross-site' }, 403],
    ['another site of the same domain', { 'sec-fetch-site': 'same-site' }, 403],
    ['another origin, by an old browser', { origin: 'https://elsewhere.example' }, 403],
    ['no browser at all', {}, 403],
    ['its own pages', { 'sec-fetch-site': 'same-origin' }, 201],
    [
      'its own pages, by an old browser',
      { origin: 'http://console.example', 'x-forwarded-host': 'console.example' },
      201,
    ],
  ] as const)('is used for changes by a cookie from %s: %p gives %p', async (_who, headers, status) => {
    const cookie = String((await signIn()).headers['set-cookie']).split(';')[0] ?? '';
    const made = await api.call('POST', '/projects', {
      token: null,
      body: { name: `p-${Math.random()}` },
      headers: { cookie, ...headers },
    });
    expect(made.status).toBe(status);
  });
});

describe('a sign-in', () => {
  const body = () => ({ email: api.seed.email, password: TEST_SECRETS.password });

  test.each([
    ["another site's page", { 'sec-fetch-site': 'cross-site' }, 403],
    ["another origin's page, by an old browser", { origin: 'https://elsewhere.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['its own page', { 'sec-fetch-site': 'same-origin' }, 201],
    ['a program, which says nothing of it', {}, 201],
  ] as const)('from %s: %p is answered with %p', async (_where, headers, status) => {
    const answer = await api.call('POST', '/sessions', { token: null, body: body(), headers });
    expect([answer.status, answer.headers['set-cookie'] !== undefined]).toEqual([status, status === 201]);
  });

  test('by a form, which a page of any site can send, is none', async () => {
    const answer = await api.call('POST', '/sessions', {
      token: null,
      payload: new URLSearchParams(body()).toString(),
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(answer).toMatchObject({ status: 415, body: { code: 'request.invalid' } });
  });
});

describe('a user of several organizations', () => {
  const SWITCH = '/sessions/organizations';
  let other: string;
  let stranger: string;

  beforeAll(async () => {
    other = (await api.otherTenant()).organizationId;
    stranger = (await api.otherTenant()).organizationId;
    await api.owner.query(
      `INSERT INTO membership (organization_id, user_id, role, created_at)
       SELECT $1, user_id, 'viewer', now() FROM membership WHERE organization_id = $2`,
      [other, api.seed.organizationId],
    );
  });

  test('switches a session, which ends the one before', async () => {
    const { token: before } = (await signIn()).body;
    const { items } = (await api.call('GET', SWITCH, { token: String(before) })).body;
    expect(items?.map(({ id, role }) => [id, role]).sort()).toEqual(
      [
        [api.seed.organizationId, 'owner'],
        [other, 'viewer'],
      ].sort(),
    );
    const switched = await api.call('POST', `${SWITCH}/${other}`, { token: String(before) });
    expect(switched).toMatchObject({ status: 201, body: { organizationId: other, role: 'viewer' } });
    const after = String(switched.body.token);
    expect((await api.call('GET', '/sessions/current', { token: after })).body.organizationId).toBe(other);
    expect(await statusOf('GET', '/sessions/current', String(before))).toBe(401);
    expect(await statusOf('POST', `${SWITCH}/${stranger}`, after)).toBe(404);
  });

  test('has tokens of one organization each, which see no other', async () => {
    const { items } = (await api.call('GET', SWITCH)).body;
    expect(items?.map(({ id }) => id)).toEqual([api.seed.organizationId]);
    expect(await statusOf('POST', `${SWITCH}/${other}`, TEST_SECRETS.token)).toBe(403);
  });
});
