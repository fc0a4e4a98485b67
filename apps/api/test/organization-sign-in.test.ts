/** Sign-in by an organization's own OpenID provider: what its admins set up, and what it must not reach beyond the organization. */
import { once } from 'node:events';
import http from 'node:http';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { CLIENT_SECRET, TestProvider } from '@holdfast/testkit/test-provider.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RefusedWrites } from '../src/access/refused-writes.js';
import { OwnApi } from './own-api.js';
import { portOf } from './test-agent.js';

const CONSOLE = 'http://console.example.test';
const ADMIN = 'admin@holdfast.local';
const NO_PROVIDER = { status: 404, body: { code: 'auth.no_provider' } };

let api: OwnApi;
let provider: TestProvider;
/** Its provider is the test's; the seeded organization has another one. */
let acme: Awaited<ReturnType<OwnApi['otherTenant']>> & { name: string };

beforeAll(async () => {
  const config = { consoleUrl: new URL(CONSOLE), oidcNetworks: ['127.0.0.0/8'] };
  api = await OwnApi.begin(config);
  const { organizationId, ...rest } = await api.otherTenant();
  acme = { organizationId, ...rest, name: `org-${organizationId}` };
  const organizationIds = [organizationId, api.seed.organizationId];
  provider = await TestProvider.start(CONSOLE, { organizationIds });
});
afterAll(async () => {
  await api?.stop();
  provider?.stop();
});
beforeEach(async () => {
  provider.visitor = [
    'sub-ada',
    { email: 'ada@example.test', email_verified: true, name: 'Ada', groups: [] },
  ];
  expect(await set()).toMatchObject({ status: 200 });
});

describe('a provider of an organization', () => {
  test('is read back without its secret, which the role of tenants can not read at all', async () => {
    const path = `/organizations/${acme.organizationId}/sign-in-provider`;
    const read = await api.call('GET', path, { token: acme.token });
    expect(read.body).toMatchObject({
      issuer: `${provider.issuer}/`,
      domains: ['example.test'],
      callbackPath: `/api/v1/oidc/callback/${acme.organizationId}`,
    });
    expect(JSON.stringify(read.body)).not.toContain(CLIENT_SECRET);
    const { rows } = await api.owner.query(
      `SELECT has_column_privilege('holdfast_api', 'sign_in_provider_secret', c, 'SELECT') AS may
       FROM unnest(ARRAY['client_secret', 'cookie_key']) c`,
    );
    expect(rows).toEqual([{ may: false }, { may: false }]);
  });

  test('is in the audit log with what was changed, and not its secret', async () => {
    await set({ clientId: 'another', clientSecret: 'another secret of the client' });
    const { rows } = await api.owner.query(
      `SELECT row_to_json(e)::text AS entry FROM audit_entry e WHERE target_kind = 'signInProvider'
       AND organization_id = $1 ORDER BY id DESC LIMIT 1`,
      [acme.organizationId],
    );
    expect(rows[0].entry).toContain('"after":{"client_id": "another"}');
    expect(rows[0].entry).not.toContain('another secret');
  });

  test('makes a member of each user, with the default role at first, and a session', async () => {
    const { answer, me } = await signIn();
    expect(answer).toMatchObject({ status: 303, headers: { location: `${CONSOLE}/` } });
    const { organizationId } = acme;
    expect(me.body).toMatchObject({ organizationId, email: 'ada@example.test', role: 'operator' });
    const path = `/members/${me.body.userId}`;
    const member = await api.call('PATCH', path, { token: acme.token, body: { role: 'viewer' } });
    expect(member.body).toMatchObject({ isManaged: true, isServiceAccount: false, role: 'viewer' });
    // The address may change at the provider; its name for the user does not.
    provider.visitor = ['sub-ada', { ...provider.visitor[1], email: 'ada.new@example.test' }];
    const again = await signIn();
    expect(again.me.body).toMatchObject({
      userId: me.body.userId,
      email: 'ada.new@example.test',
      role: 'viewer',
    });
  });

  test('has its refusals written also where a write of them is under way', async () => {
    provider.visitor = ['sub-mallory', { ...provider.visitor[1], email: 'mallory@evil.test' }];
    const { cookie, back } = await begin();
    await refusal(await end(back, cookie));
    const refused = api.app.nest.get(RefusedWrites);
    let isWritten = false;
    const first = refused.flush().then(() => {
      isWritten = true;
    });
    await refused.flush();
    expect(isWritten).toBe(true);
    await first;
  });

  test.each([
    { name: 'another domain', user: { email: 'eve@evil.test' }, told: 'addresses of evil.test' },
    { name: 'an unverified address', user: { email_verified: false }, told: 'has not verified' },
    { name: 'an address of two lines', user: { email: 'a\n@example.test' }, told: 'names no e-mail address' },
  ])('refuses $name, and tells the organization so', async ({ user, told }) => {
    provider.visitor = ['sub-eve', { ...provider.visitor[1], ...user }];
    const { cookie, back } = await begin();
    expect(await refusal(await end(back, cookie))).toContain(told);
    await api.app.nest.get(RefusedWrites).flush();
    const { rows } = await api.owner.query(
      `SELECT organization_id, reason, (SELECT count(*)::int FROM provider_identity WHERE subject = 'sub-eve') AS accounts
       FROM audit_entry WHERE actor_id = 'sub-eve' ORDER BY id DESC LIMIT 1`,
    );
    expect(rows).toEqual([{ organization_id: acme.organizationId, reason: 'auth.forbidden', accounts: 0 }]);
  });

  test('has no say once it is deleted: its users are signed out, and stay members', async () => {
    const { asUser, me } = await signIn();
    const path = `/organizations/${acme.organizationId}/sign-in-provider`;
    expect(await api.call('DELETE', path, { token: acme.token })).toMatchObject({ status: 204 });
    expect(await api.call('GET', '/sessions/current', asUser)).toMatchObject({ status: 401 });
    expect(await api.call('GET', `/members/${me.body.userId}`, { token: acme.token })).toMatchObject({
      status: 200,
    });
    expect(await start()).toMatchObject(NO_PROVIDER);
    const { body } = await api.call('GET', path, { token: acme.token });
    expect(body.code).toBe('sign_in_provider.not_found');
  });
});

describe('an account of a provider', () => {
  test('with the address of another account is another account, of this organization only', async () => {
    provider.visitor = ['sub-mallory', { ...provider.visitor[1], email: ADMIN }];
    await set({ domains: ['example.test', 'holdfast.local'] });
    const { asUser, me } = await signIn();
    const { rows } = await api.owner.query('SELECT id FROM app_user WHERE email = $1', [ADMIN]);
    expect(me.body).toMatchObject({ organizationId: acme.organizationId, email: ADMIN });
    expect(me.body.userId).not.toBe(rows[0].id);
    const switchable = await api.call('GET', '/sessions/organizations', asUser);
    expect(switchable.body.items?.map(({ id }) => id)).toEqual([acme.organizationId]);
    const elsewhere = `/sessions/organizations/${api.seed.organizationId}`;
    expect(await api.call('POST', elsewhere, { ...asUser, body: {} })).toMatchObject({ status: 404 });
  });

  test('gets no password, by a change or by an invitation of its address', async () => {
    const { asUser, me } = await signIn();
    const newPassword = 'a password of the provider 1';
    const changed = await api.call('POST', '/sessions/password', {
      ...asUser,
      body: { currentPassword: 'x', newPassword },
    });
    expect(changed).toMatchObject({ status: 401, body: { code: 'auth.invalid' } });
    for (const email of [`${me.body.userId}@managed-account.invalid`, 'ada@example.test']) {
      const { body } = await api.call('POST', '/invitations', { body: { email, role: 'viewer' } });
      const accept = { secret: body.secret, name: 'Ada', password: newPassword };
      const joined = await api.call('POST', '/invitations/accept', { token: null, body: accept });
      expect([404, 201]).toContain(joined.status);
      expect(joined.body.userId).not.toBe(me.body.userId);
    }
    const { rows } = await api.owner.query(
      'SELECT (SELECT count(*)::int FROM membership m WHERE m.user_id = u.id) AS memberships, password_hash FROM app_user u WHERE id = $1',
      [me.body.userId],
    );
    expect(rows).toEqual([{ memberships: 1, password_hash: null }]);
  });

  test('is no owner, in no other organization and known to no other provider, whatever the code does', async () => {
    const { me } = await signIn();
    const { userId } = me.body;
    const asOwner = { token: acme.token, body: { role: 'owner' } };
    expect(await api.call('PATCH', `/members/${userId}`, asOwner)).toMatchObject({
      status: 409,
      body: { code: 'member.no_owner' },
    });
    const insert = `INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, 'viewer', now())`;
    await expect(api.owner.query(insert, [api.seed.organizationId, userId])).rejects.toThrow(
      /no such membership/,
    );
    await expect(
      api.owner.query(`UPDATE membership SET role = 'owner' WHERE user_id = $1`, [userId]),
    ).rejects.toThrow(/no such membership/);
    await expect(
      api.owner.query(`INSERT INTO user_identity (issuer, subject, user_id) VALUES ('i', 's', $1)`, [userId]),
    ).rejects.toThrow(/no such user_identity/);
  });

  test('is gone when the member is removed', async () => {
    const { me } = await signIn();
    const { userId } = me.body;
    expect(await api.call('DELETE', `/members/${userId}`, { token: acme.token })).toMatchObject({
      status: 204,
    });
    const { rows } = await api.owner.query('SELECT FROM app_user WHERE id = $1', [userId]);
    expect(rows).toEqual([]);
    expect((await signIn()).me.body.userId).not.toBe(userId);
  });

  test('is another one to another issuer, and to another organization with the same one', async () => {
    const before = await signIn();
    await set({}, { organizationId: api.seed.organizationId, token: TEST_SECRETS.token });
    const { cookie, back } = await begin('Local');
    await end(back, cookie);
    const impostor = await TestProvider.start(CONSOLE, { organizationIds: [acme.organizationId] });
    impostor.visitor = provider.visitor;
    try {
      await set({ issuer: impostor.issuer });
      // The session that the issuer before has vouched for is over.
      expect(await api.call('GET', '/sessions/current', before.asUser)).toMatchObject({ status: 401 });
      const started = await start();
      const own = String(started.headers['set-cookie']).split(';')[0] ?? '';
      await end(await impostor.visit(String(started.body.url)), own);
    } finally {
      impostor.stop();
    }
    const { rows } = await api.owner.query(
      `SELECT count(DISTINCT user_id)::int AS accounts FROM provider_identity WHERE subject = 'sub-ada'`,
    );
    expect(rows).toEqual([{ accounts: 3 }]);
  });
});

describe('an answer of a provider counts for the sign-in that it is of', () => {
  test('once, and not with the state, the nonce or the code of another attempt', async () => {
    const [mine, other] = [await begin(), await begin()];
    expect(await refusal(await end(mine.back, ''))).toContain('began elsewhere');
    expect(await refusal(await end(mine.back, other.cookie))).toContain('did not answer as it has to');
    const mixed = new URL(mine.back);
    mixed.searchParams.set('state', other.back.searchParams.get('state') ?? '');
    expect(await refusal(await end(mixed, other.cookie))).toContain('did not answer as it has to');
    const good = await begin();
    expect((await end(good.back, good.cookie)).headers.location).toBe(`${CONSOLE}/`);
    expect(await refusal(await end(good.back, good.cookie))).toContain('did not answer as it has to');
  });

  test('not for another organization that has the same provider', async () => {
    await set({}, { organizationId: api.seed.organizationId, token: TEST_SECRETS.token });
    const [ours, theirs] = [await begin('Local'), await begin()];
    const there = new URL(ours.back);
    there.pathname = theirs.back.pathname;
    // With the cookie of the one, of the other, and with one that was relabelled.
    for (const cookie of [
      ours.cookie,
      theirs.cookie,
      ours.cookie.replace(api.seed.organizationId, acme.organizationId),
    ]) {
      const answer = await end(there, cookie);
      expect(answer.headers.location).toBe(`${CONSOLE}/sign-in`);
      expect(String(answer.headers['set-cookie'])).not.toContain('holdfast_session');
    }
  });

  test('not when the provider was changed meanwhile, whose code another issuer is not told', async () => {
    const { cookie, back } = await begin();
    const other = await TestProvider.start(CONSOLE);
    await set({ issuer: other.issuer });
    expect(await refusal(await end(back, cookie))).toContain('did not answer as it has to');
    expect(other.requests).toBe(0);
    other.stop();
  });
});

describe('an issuer', () => {
  test.each([
    'http://10.0.0.1/',
    'https://169.254.169.254/',
    'https://[::1]/',
    'https://192.168.1.1/',
    'file:///etc',
  ])('at %s is refused', async (issuer) => {
    const answer = await set({ issuer });
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/issuer' }] });
  });

  test('on this machine is not called where the operator has not allowed its network', async () => {
    const strict = await OwnApi.beside(api);
    try {
      const before = provider.requests;
      expect(await start(acme.name, strict)).toMatchObject({
        status: 503,
        body: { code: 'auth.provider_failed' },
      });
      expect(provider.requests).toBe(before);
    } finally {
      await strict.app.nest.close();
    }
  });

  test('that says to be another one is not believed', async () => {
    const liar = await TestProvider.start(CONSOLE, {
      organizationIds: [acme.organizationId],
      saidIssuer: 'https://accounts.example.test',
    });
    try {
      await set({ issuer: liar.issuer });
      expect(await start()).toMatchObject({ status: 503, body: { code: 'auth.provider_failed' } });
    } finally {
      liar.stop();
    }
  });

  test.each([
    { page: 'http://127.0.0.1/authorize', status: 201 },
    { page: 'javascript:alert(document.domain)//', status: 503 },
  ])('that names $page as its page is answered with $status', async ({ page, status }) => {
    const server = http.createServer((_request, response) => {
      const issuer = `http://127.0.0.1:${portOf(server.address())}/`;
      response.setHeader('content-type', 'application/json');
      response.end(
        JSON.stringify({ issuer, authorization_endpoint: page, token_endpoint: `${issuer}token` }),
      );
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    try {
      await set({ issuer: `http://127.0.0.1:${portOf(server.address())}` });
      expect((await start()).status).toBe(status);
    } finally {
      server.close();
    }
  });

  test('gets the secret of another one from no admin: another issuer needs its own', async () => {
    const answer = await set({ issuer: 'http://127.0.0.1:9/', clientSecret: undefined });
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/clientSecret' }] });
    expect(await set({ clientSecret: undefined, domains: ['b.test', 'b.test'] })).toMatchObject({
      status: 200,
      body: { domains: ['b.test'] },
    });
  });
});

test('a token for a part of the organization neither sees nor sets the provider', async () => {
  const path = `/organizations/${api.seed.organizationId}/sign-in-provider`;
  const { body } = await api.call('POST', '/tokens', {
    body: { name: 'part', projectIds: [api.seed.projectId] },
  });
  const part = { token: String(body.token ?? body.secret) };
  expect((await api.call('GET', path, part)).status).toBe(403);
  const given = { issuer: provider.issuer, clientId: 'c', clientSecret: 's', domains: ['example.test'] };
  expect((await api.call('PUT', path, { ...part, body: given })).status).toBe(403);
});

test('an organization without a provider is answered as none at all, and guesses are limited', async () => {
  const { organizationId } = await api.otherTenant();
  const [without, none] = [await start(`org-${organizationId}`), await start('no such one')];
  for (const answer of [without, none]) expect(answer).toMatchObject(NO_PROVIDER);
  expect(Object.keys(without.headers)).toEqual(Object.keys(none.headers));
  expect(String(without.body.detail).replace(`org-${organizationId}`, '')).toBe(
    String(none.body.detail).replace('no such one', ''),
  );
  const statuses = new Set<number>();
  for (let guess = 0; guess < 110; guess += 1) statuses.add((await start(`guess ${guess}`)).status);
  expect([...statuses]).toEqual([404, 429]);
});

function set(
  body: object = {},
  { organizationId, token }: Pick<typeof acme, 'organizationId' | 'token'> = acme,
) {
  const whole = {
    issuer: provider.issuer,
    clientId: 'holdfast',
    clientSecret: CLIENT_SECRET,
    domains: ['example.test'],
    defaultRole: 'operator',
    ...body,
  };
  return api.call('PUT', `/organizations/${organizationId}/sign-in-provider`, { token, body: whole });
}

function start(organization = acme.name, at = api) {
  return at.call('POST', '/oidc/start', { token: null, body: { organization } });
}

/** A browser that has been at the provider, and holds what it has to bring back. */
async function begin(organization = acme.name) {
  const started = await start(organization);
  expect(started.status).toBe(201);
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? '';
  return { cookie, back: await provider.visit(String(started.body.url)) };
}

function end(back: URL, cookie: string) {
  const path = `${back.pathname.replace('/api/v1', '')}${back.search}`;
  return api.call('GET', path, { token: null, headers: { cookie } });
}

async function signIn() {
  const { cookie, back } = await begin();
  const answer = await end(back, cookie);
  const cookies = [answer.headers['set-cookie']].flat().map(String);
  const session = cookies.find((text) => text.startsWith('holdfast_session='))?.split(';')[0] ?? '';
  const asUser = { token: null, headers: { cookie: session, origin: CONSOLE, host: new URL(CONSOLE).host } };
  return { answer, asUser, me: await api.call('GET', '/sessions/current', asUser) };
}

/** What the console is told, once, when the browser is back there. */
async function refusal({ headers }: { headers: Record<string, unknown> }) {
  expect(headers.location).toBe(`${CONSOLE}/sign-in`);
  expect(String(headers['set-cookie'])).not.toContain('holdfast_session');
  const cookie = String([headers['set-cookie']].flat().at(-1)).split(';')[0] ?? '';
  return (await api.call('GET', '/oidc', { token: null, headers: { cookie } })).body.refused;
}
