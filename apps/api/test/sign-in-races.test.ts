/** Sign-ins that are under way while what lets their user in ends. */
import { asId } from '@holdfast/core/model/ids.js';
import { enterByProvider } from '@holdfast/database/queries/provider-accounts.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { TokenGate } from './token-gate.js';

const PASSWORD = 'a sentence with 9 words';
const CHANGED = 'another sentence, longer';

let api: ApiFixture;
let gate: TokenGate;
let email: string;
let session: string;
let users = 0;

beforeAll(async () => {
  api = await ApiFixture.start();
  gate = await TokenGate.build(api.database.ownerUrl);
});
afterAll(async () => {
  await gate?.end();
  await api?.stop();
});

beforeEach(async () => {
  users += 1;
  email = `user-${users}@example.test`;
  const { body } = await api.call('POST', '/invitations', { body: { email, role: 'viewer' } });
  const accept = { secret: body.secret, name: 'Ada', password: PASSWORD };
  await api.call('POST', '/invitations/accept', { token: null, body: accept });
  session = String((await signIn()).body.token);
});
afterEach(() => gate.open());

const signIn = () => api.call('POST', '/sessions', { token: null, body: { email, password: PASSWORD } });
const isLive = async (token: unknown) =>
  (await api.call('GET', '/sessions/current', { token: String(token) })).status === 200;
const changePassword = () =>
  api.call('POST', '/sessions/password', {
    token: session,
    body: { currentPassword: PASSWORD, newPassword: CHANGED },
  });

describe('a sign-in with the password', () => {
  test('that was checked before it was changed is refused', async () => {
    const [signedIn, changed] = await gate.during('BEFORE', signIn, changePassword);
    expect([changed.status, signedIn.status, signedIn.body.code]).toEqual([204, 401, 'auth.invalid']);
  });

  test('that is stored while it is changed ends with the other sessions', async () => {
    const [signedIn, changed] = await gate.during('AFTER', signIn, changePassword);
    expect([changed.status, signedIn.status]).toEqual([204, 201]);
    expect([await isLive(signedIn.body.token), await isLive(session)]).toEqual([false, true]);
  });

  test('that was checked before the account was linked is refused', async () => {
    const [signedIn] = await gate.during('BEFORE', signIn, link);
    expect([signedIn.status, await isLive(session)]).toEqual([401, false]);
  });

  test('that is stored while the account is linked ends', async () => {
    const [signedIn] = await gate.during('AFTER', signIn, link);
    expect([signedIn.status, await isLive(signedIn.body.token)]).toEqual([201, false]);
  });
});

describe('what a session makes', () => {
  const make = () => api.call('POST', '/tokens', { token: session, body: { name: 'script' } });
  const switched = () =>
    api.call('POST', `/sessions/organizations/${api.seed.organizationId}`, { token: session });

  test('is not made when the account is linked before', async () => {
    const [made] = await gate.during('BEFORE', make, link);
    expect(made.status).toBe(401);
  });

  test('ends when the account is linked then', async () => {
    const [made] = await gate.during('AFTER', make, link);
    expect([made.status, await isLive(made.body.token)]).toEqual([201, false]);
  });

  test('a switch to another organization is none when the account is linked before', async () => {
    const [made] = await gate.during('BEFORE', switched, link);
    expect(made.status).toBe(401);
  });
});

test('of two changes of a password at once one is refused', async () => {
  const answers = await Promise.all([changePassword(), changePassword(), changePassword()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
});

/** As the installation's provider does when it vouches for the account for the first time. */
async function link(): Promise<void> {
  const pool = createPool(api.database.systemUrl, { connectionsMax: 1, applicationName: 'link' });
  const account = {
    issuer: 'https://id.example.test/',
    subject: email,
    email,
    name: 'Ada',
    role: 'operator' as const,
    organizationId: api.seed.organizationId,
    newUserId: asId<never>('00000000-0000-7000-8000-000000000001'),
    now: new Date(),
  };
  await transaction(systemScope(pool), (sql) => enterByProvider(sql, account));
  await pool.end();
}
