/**
 * Sign-ins that are under way while what lets their user in ends. A trigger holds each new token where a test wants it: before its
 * row is there, or before its transaction commits.
 */
import { asId } from '@holdfast/core/model/ids.js';
import { enterByProvider } from '@holdfast/database/queries/provider-accounts.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope, transaction } from '@holdfast/database/sql/scope.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { ApiFixture } from './api-fixture.js';

const PASSWORD = 'a sentence with 9 words';
const CHANGED = 'another sentence, longer';
/** Which lock the trigger waits for. */
const GATE = 4711;

let api: ApiFixture;
let gate: pg.Client;
let email: string;
let session: string;
let users = 0;

beforeAll(async () => {
  api = await ApiFixture.start();
  gate = new pg.Client({ connectionString: api.database.ownerUrl });
  await gate.connect();
  await api.owner.query(
    `CREATE FUNCTION pass_gate() RETURNS trigger LANGUAGE plpgsql
     AS $$ BEGIN PERFORM pg_advisory_xact_lock(${GATE}); RETURN NEW; END $$`,
  );
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
afterEach(async () => {
  await gate.query('SELECT pg_advisory_unlock_all()');
  await api.owner.query('DROP TRIGGER IF EXISTS zz_gate ON token');
});

const signIn = () => api.call('POST', '/sessions', { token: null, body: { email, password: PASSWORD } });
const isLive = async (token: unknown) =>
  (await api.call('GET', '/sessions/current', { token: String(token) })).status === 200;
const changePassword = () =>
  api.call('POST', '/sessions/password', {
    token: session,
    body: { currentPassword: PASSWORD, newPassword: CHANGED },
  });

type Moment = 'BEFORE' | 'AFTER';

/** Begins what makes a token, and has `meanwhile` begin while it is held. Both have ended when this returns. */
async function during<Held, Other>(
  moment: Moment,
  begin: () => Promise<Held>,
  meanwhile: () => Promise<Other>,
): Promise<[Held, Other]> {
  await api.owner.query(
    `CREATE TRIGGER zz_gate ${moment} INSERT ON token FOR EACH ROW EXECUTE FUNCTION pass_gate()`,
  );
  await gate.query('SELECT pg_advisory_lock($1)', [GATE]);
  const held = begin();
  await somethingWaitsFor('advisory');
  const other = meanwhile();
  // Before its row is there nothing keeps the other from ending; behind it the other waits for its commit.
  if (moment === 'BEFORE') await other;
  else await somethingWaitsFor('tuple', 'transactionid');
  await gate.query('SELECT pg_advisory_unlock($1)', [GATE]);
  return Promise.all([held, other]);
}

function somethingWaitsFor(...kinds: string[]): Promise<number> {
  const sql = 'SELECT FROM pg_locks WHERE NOT granted AND locktype = ANY ($1)';
  const count = async () => (await gate.query(sql, [kinds])).rowCount ?? 0;
  return eventually(`a lock of ${kinds} is waited for`, count, (waiting) => waiting > 0, 10_000);
}

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

describe('a sign-in with the password', () => {
  test('that was checked before it was changed is refused', async () => {
    const [signedIn, changed] = await during('BEFORE', signIn, changePassword);
    expect([changed.status, signedIn.status, signedIn.body.code]).toEqual([204, 401, 'auth.invalid']);
  });

  test('that is stored while it is changed ends with the other sessions', async () => {
    const [signedIn, changed] = await during('AFTER', signIn, changePassword);
    expect([changed.status, signedIn.status]).toEqual([204, 201]);
    expect([await isLive(signedIn.body.token), await isLive(session)]).toEqual([false, true]);
  });

  test('that was checked before the account was linked is refused', async () => {
    const [signedIn] = await during('BEFORE', signIn, link);
    expect([signedIn.status, await isLive(session)]).toEqual([401, false]);
  });

  test('that is stored while the account is linked ends', async () => {
    const [signedIn] = await during('AFTER', signIn, link);
    expect([signedIn.status, await isLive(signedIn.body.token)]).toEqual([201, false]);
  });
});

describe('what a session makes', () => {
  const make = () => api.call('POST', '/tokens', { token: session, body: { name: 'script' } });
  const switched = () =>
    api.call('POST', `/sessions/organizations/${api.seed.organizationId}`, { token: session });

  test('is not made when the account is linked before', async () => {
    const [made] = await during('BEFORE', make, link);
    expect(made.status).toBe(401);
  });

  test('ends when the account is linked then', async () => {
    const [made] = await during('AFTER', make, link);
    expect([made.status, await isLive(made.body.token)]).toEqual([201, false]);
  });

  test('a switch to another organization is none when the account is linked before', async () => {
    const [made] = await during('BEFORE', switched, link);
    expect(made.status).toBe(401);
  });
});

test('of two changes of a password at once one is refused', async () => {
  const answers = await Promise.all([changePassword(), changePassword(), changePassword()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([204, 401, 401]);
});
