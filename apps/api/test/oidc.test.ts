/** Sign-in by a real OpenID provider, which runs in this process. */
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { type ProviderUser, TestProvider } from '@holdfast/testkit/test-provider.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { RefusedWrites } from '../src/access/refused-writes.js';
import { oidcConfigOf, oidcEnvironment } from '../src/config/oidc-config.js';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

const CONSOLE = 'http://console.example.test';

let api: OwnApi;
let provider: TestProvider;

beforeAll(async () => {
  provider = await TestProvider.start(CONSOLE);
  const variables = {
    ...provider.environment,
    HOLDFAST_OIDC_ORGANIZATION: 'Local',
    HOLDFAST_CONSOLE_URL: CONSOLE,
    HOLDFAST_OIDC_ROLES: 'ops=operator,storage=admin',
    HOLDFAST_OIDC_DOMAINS: 'example.test',
  };
  api = await OwnApi.begin({ oidc: oidcConfigOf(oidcEnvironment.parse(variables)) });
});
afterAll(async () => {
  await api?.stop();
  provider?.stop();
});
beforeEach(() => {
  const ada = { email: 'ada@example.test', email_verified: true, name: 'Ada', groups: ['ops'] };
  provider.visitor = ['sub-ada', ada];
});

async function begin(query = '') {
  const started = await api.call('GET', `/oidc/start${query}`, { token: null });
  expect(started.status).toBe(303);
  const cookie = String(started.headers['set-cookie']).split(';')[0] ?? '';
  return { cookie, back: await provider.visit(String(started.headers.location)) };
}

const end = ({ search }: URL, cookie: string) =>
  api.call('GET', `/oidc/callback${search}`, { token: null, headers: { cookie } });

/** Signs in, and says who the session belongs to. */
async function signIn() {
  const { cookie, back } = await begin();
  const answer = await end(back, cookie);
  const session = [answer.headers['set-cookie']]
    .flat()
    .find((text) => String(text).startsWith('holdfast_session='));
  const secret = /=([^;]*)/.exec(String(session))?.[1] ?? '';
  return { answer, secret, me: await api.call('GET', '/sessions/current', { token: secret }) };
}

test('a user of the provider becomes a member with the role of the group, and has a session', async () => {
  const { answer, me } = await signIn();
  expect(answer).toMatchObject({ status: 303, headers: { location: `${CONSOLE}/` } });
  expect(me).toMatchObject({
    status: 200,
    body: { email: 'ada@example.test', name: 'Ada', role: 'operator' },
  });
  const { rows } = await api.owner.query(
    `SELECT result, actor_kind FROM audit_entry WHERE action = 'GET /api/v1/oidc/callback'`,
  );
  expect(rows).toEqual([{ result: 'done', actor_kind: 'user/session' }]);
});

describe('the page that a user was going to', () => {
  const going = (next: string) => `?${new URLSearchParams({ next })}`;

  test('is where a sign-in ends', async () => {
    const next = '/volumes?q=name%3Dpg*&sort=-size';
    const { cookie, back } = await begin(going(next));
    expect(await end(back, cookie)).toMatchObject({
      status: 303,
      headers: { location: `${CONSOLE}${next}` },
    });
    // The provider has not been told of it.
    expect(back.href).not.toContain('volumes');
  });

  test('is where a further attempt leads after one that was refused', async () => {
    provider.visitor = ['sub-eve', { ...provider.visitor[1], email: 'eve@evil.test', name: 'Eve' }];
    const { cookie, back } = await begin(going('/nodes'));
    expect(await end(back, cookie)).toMatchObject({
      status: 303,
      headers: { location: `${CONSOLE}/sign-in?next=%2Fnodes` },
    });
  });

  test.each([
    '//evil.test',
    '/\\evil.test',
    '\\\\evil.test',
    'https://evil.test/',
    '/\t/evil.test',
    '/..//evil.test',
  ])('can not be elsewhere: %j', async (next) => {
    const answer = await api.call('GET', `/oidc/start${going(next)}`, { token: null });
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
    expect(answer.headers['set-cookie']).toBeUndefined();
  });

  test('is not taken from the address that the provider sends the browser to', async () => {
    const { cookie, back } = await begin();
    back.searchParams.set('next', '//evil.test');
    const { headers } = await end(back, cookie);
    expect(new URL(String(headers.location)).origin).toBe(CONSOLE);
  });
});

test('the role follows the groups, and the name at the provider stays the user when the address changes', async () => {
  const before = await signIn();
  provider.visitor = [
    'sub-ada',
    { ...provider.visitor[1], email: 'ada.new@example.test', groups: ['ops', 'storage'] },
  ];
  const { me } = await signIn();
  expect(me.body).toMatchObject({ role: 'admin', userId: before.me.body.userId, email: 'ada@example.test' });
});

test('what a user has made ends with the role that the groups have taken', async () => {
  provider.visitor = [
    'sub-mallory',
    { ...provider.visitor[1], email: 'mallory@example.test', groups: ['storage'] },
  ];
  const { secret } = await signIn();
  const tokens = `/clusters/${api.seed.clusterId}/join-tokens`;
  const made = await api.call('POST', tokens, { token: secret, body: { name: 'late' } });
  expect(made.status).toBe(201);
  provider.visitor = ['sub-mallory', { ...provider.visitor[1], groups: ['ops'] }];
  await signIn();
  const { body } = await api.call('GET', `${tokens}?filter=${encodeURIComponent('name="late"')}`);
  expect(body.items).toEqual([]);
});

test('an owner with a verified address stays an owner', async () => {
  provider.visitor = ['sub-admin', { ...provider.visitor[1], email: 'ada.owner@example.test' }];
  const { me } = await signIn();
  const set = (role: string) =>
    api.owner.query('UPDATE membership SET role = $2 WHERE user_id = $1', [me.body.userId, role]);
  await set('owner');
  expect((await signIn()).me.body).toMatchObject({ role: 'owner' });
});

describe('an admin of another organization who invites the address of a user', () => {
  let stranger: { organizationId: string; token: string };
  beforeAll(async () => {
    stranger = await api.otherTenant();
  });

  test('gives the account of the provider no password by accepting', async () => {
    const email = 'victim.known@example.test';
    provider.visitor = ['sub-known', { ...provider.visitor[1], email }];
    const { me } = await signIn();
    const invitation = await invitationOf(email, stranger.token);
    expect(await accept(invitation)).toMatchObject({
      status: 403,
      body: { code: 'invitation.needs_session' },
    });
    expect(await byPassword(email, api.seed.organizationId)).toMatchObject({ status: 401 });
    const members = await api.call('GET', '/members', { token: stranger.token });
    expect(members.body.items?.map(({ userId }) => userId)).not.toContain(me.body.userId);
  });

  test('loses an account that was made beforehand when the provider vouches for its user', async () => {
    const email = 'victim.coming@example.test';
    const made = await accept(await invitationOf(email, stranger.token));
    const session = await byPassword(email);
    const planted = await api.call('POST', '/tokens', {
      token: String(session.body.token),
      body: { name: 'planted' },
    });
    expect(planted.status).toBe(201);
    provider.visitor = ['sub-coming', { ...provider.visitor[1], email, groups: ['storage'] }];
    const { me, secret } = await signIn();
    expect(me).toMatchObject({ status: 200, body: { userId: made.body.userId, role: 'admin' } });
    expect(await byPassword(email)).toMatchObject({ status: 401 });
    for (const kept of [session.body.token, planted.body.token])
      expect(await api.call('GET', '/sessions/current', { token: String(kept) })).toMatchObject({
        status: 401,
      });
    // The user's own sessions outlive further sign-ins.
    await signIn();
    expect((await api.call('GET', '/sessions/current', { token: secret })).status).toBe(200);
    const { rows } = await api.owner.query(
      `SELECT detail -> 'endedAccess' AS ended FROM audit_entry
       WHERE action = 'GET /api/v1/oidc/callback' AND actor_id = $1 ORDER BY id`,
      [me.body.userId],
    );
    expect(rows).toEqual([{ ended: true }, { ended: null }]);
  });
});

test('a member with a password whom the provider gives no higher role keeps it, and another one does not', async () => {
  const own = TEST_SECRETS.token;
  const joined = async (email: string) => {
    expect((await accept(await invitationOf(email, own))).status).toBe(201);
    const session = await byPassword(email, api.seed.organizationId);
    expect(session.status).toBe(201);
    return String(session.body.token);
  };
  const isLive = async (token: string) =>
    (await api.call('GET', '/sessions/current', { token })).status === 200;
  const visit = async (subject: string, email: string, groups: string[]) => {
    provider.visitor = [subject, { ...provider.visitor[1], email, groups }];
    await signIn();
  };
  const same = await joined('member.same@example.test');
  await visit('sub-same', 'member.same@example.test', []);
  const raised = await joined('member.raised@example.test');
  await visit('sub-raised', 'member.raised@example.test', ['storage']);
  expect([await isLive(same), await isLive(raised)]).toEqual([true, false]);
});

describe('a user of the provider who is invited', () => {
  let stranger: { organizationId: string; token: string };
  beforeAll(async () => {
    stranger = await api.otherTenant();
  });
  const join = (token: string, secret: string) =>
    api.call('POST', '/invitations/join', { token, body: { secret } });

  test('joins with the session, and works in both organizations', async () => {
    const { me, secret: session } = await signIn();
    const { secret } = await invitationOf('ada@example.test', stranger.token);
    const { organizationId } = stranger;
    expect(await join(session, secret)).toMatchObject({
      status: 201,
      body: { organizationId, userId: me.body.userId, role: 'viewer' },
    });
    const switched = await api.call('POST', `/sessions/organizations/${organizationId}`, { token: session });
    expect(switched).toMatchObject({ status: 201, body: { organizationId, role: 'viewer' } });
    expect(await join(String(switched.body.token), secret)).toMatchObject({
      status: 404,
      body: { code: 'invitation.not_found' },
    });
  });

  test('joins by no session of another account, and by no token', async () => {
    const { secret } = await invitationOf('grace@example.test', stranger.token);
    const { secret: session } = await signIn();
    const token = await api.call('POST', '/tokens', { token: session, body: { name: 'script' } });
    for (const other of [session, String(token.body.token)])
      expect(await join(other, secret)).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
  });
});

/** What the console is told when the browser is back there: once, and not by the address. */
async function refusal({ headers }: { headers: Record<string, unknown> }) {
  expect(headers.location).toBe(`${CONSOLE}/sign-in`);
  const cookie = String(headers['set-cookie']).split(';')[0] ?? '';
  const told = await api.call('GET', '/oidc', { token: null, headers: { cookie } });
  expect(String(told.headers['set-cookie'])).toMatch(/^holdfast_oidc=;/);
  return told.body.refused;
}

test.each<{ name: string; user: Partial<ProviderUser>; told: string }>([
  {
    name: 'another domain',
    user: { email: 'eve@evil.test' },
    told: 'addresses of evil.test may not sign in',
  },
  { name: 'an unverified address', user: { email_verified: false }, told: 'has not verified' },
  { name: 'no group with a role', user: { groups: ['sales'] }, told: 'none of your groups' },
])('$name is refused, told, and in the audit log', async ({ user, told }) => {
  provider.visitor = ['sub-eve', { ...provider.visitor[1], ...user }];
  const { cookie, back } = await begin();
  const answer = await end(back, cookie);
  expect(await refusal(answer)).toContain(told);
  expect(String(answer.headers['set-cookie'])).not.toContain('holdfast_session');
  await api.app.nest.get(RefusedWrites).flush();
  const { rows } = await api.owner.query(
    `SELECT reason, (SELECT count(*)::int FROM user_identity WHERE subject = 'sub-eve') AS accounts
     FROM audit_entry WHERE actor_id = 'sub-eve' ORDER BY id DESC LIMIT 1`,
  );
  expect(rows).toEqual([{ reason: 'auth.forbidden', accounts: 0 }]);
});

test('a user who turns back at the provider is told so, and not that the provider has failed', async () => {
  const { cookie, back } = await begin();
  const denied = new URL(back);
  denied.search = `${new URLSearchParams({
    error: 'access_denied',
    error_description: 'End-User aborted interaction',
    state: String(back.searchParams.get('state')),
    iss: String(back.searchParams.get('iss')),
  })}`;
  expect(await refusal(await end(denied, cookie))).toBe(
    'the sign-in was cancelled at the provider, or the provider does not let you use Holdfast',
  );
  // Of another attempt it says nothing.
  denied.searchParams.set('state', 'guessed');
  const again = await begin();
  expect(await refusal(await end(denied, again.cookie))).toContain('did not answer as it has to');
});

test('an answer counts for the browser that has begun, and for its own attempt only', async () => {
  const [mine, other] = [await begin(), await begin()];
  expect(await refusal(await end(mine.back, ''))).toContain('began elsewhere');
  expect(await refusal(await end(mine.back, `${mine.cookie.slice(0, -4)}AAAA`))).toContain('began elsewhere');
  // Another attempt's state, nonce and verifier.
  expect(await refusal(await end(mine.back, other.cookie))).toContain('did not answer as it has to');
  const wrong = new URL(mine.back);
  wrong.searchParams.set('code', 'guessed');
  expect(await refusal(await end(wrong, mine.cookie))).toContain('did not answer as it has to');
});

test('a code is good once', async () => {
  const { cookie, back } = await begin();
  expect((await end(back, cookie)).headers.location).toBe(`${CONSOLE}/`);
  expect(await refusal(await end(back, cookie))).toContain('did not answer as it has to');
});

test('the console is told what to call the provider', async () => {
  expect(await api.call('GET', '/oidc', { token: null })).toMatchObject({ body: { name: 'single sign-on' } });
});

test.each<{ env: Record<string, string>; problem: string }>([
  { env: { HOLDFAST_OIDC_ISSUER: 'http://id.example.test' }, problem: 'must be HTTPS' },
  { env: { HOLDFAST_OIDC_ISSUER: 'https://id.example.test' }, problem: 'needs HOLDFAST_OIDC_CLIENT_ID' },
])('the configuration $env is refused', ({ env, problem }) => {
  expect(() => oidcConfigOf(oidcEnvironment.parse(env))).toThrow(problem);
});

const PASSWORD = 'a sentence that the attacker chose';
const byPassword = (email: string, organizationId?: string) =>
  api.call('POST', '/sessions', { token: null, body: { email, password: PASSWORD, organizationId } });

/** Invites an address into the organization of the token's user. Returns what accepting it takes. */
async function invitationOf(email: string, token: string) {
  const { body } = await api.call('POST', '/invitations', { token, body: { email, role: 'viewer' } });
  return { secret: String(body.secret), name: 'Eve', password: PASSWORD };
}

const accept = (body: Json) => api.call('POST', '/invitations/accept', { token: null, body });
