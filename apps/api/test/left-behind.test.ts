/** What members leave behind: each kind of the table, its maker's right taken in each way, and used after. */
import { randomUUID } from 'node:crypto';
import { type End, LEFT_BEHIND, LEFT_KINDS, type LeftKind } from '@holdfast/access/left-behind.js';
import { hashSecret } from '@holdfast/database/credentials.js';
import { untilLockIsAwaited } from '@holdfast/testkit/lock-waits.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { type Makes, type TestMaker, thingsLeftBehind } from './left-behind-things.js';

let api: ApiFixture;
let makes: Makes;

beforeAll(async () => {
  api = await ApiFixture.start();
  await api.node('node-1', 'zone-a');
  makes = thingsLeftBehind(api);
});
afterAll(() => api?.stop());

/** Ways to lose a right, and what gives it back. */
const LOSSES = {
  removed: {
    lose: ({ userId }: TestMaker) => api.call('DELETE', `/members/${userId}`),
    regain: ({ userId }: TestMaker) => join(userId, 'owner'),
  },
  demoted: {
    lose: ({ userId }: TestMaker) => api.call('PATCH', `/members/${userId}`, { body: { role: 'member' } }),
    regain: ({ userId }: TestMaker) => api.call('PATCH', `/members/${userId}`, { body: { role: 'owner' } }),
  },
  disabled: {
    lose: ({ userId }: TestMaker) =>
      api.call('PATCH', `/service-accounts/${userId}`, { body: { isDisabled: true } }),
    regain: ({ userId }: TestMaker) =>
      api.call('PATCH', `/service-accounts/${userId}`, { body: { isDisabled: false } }),
  },
} as const;

/** What a service account never has: it does not sign in, and is no owner. */
const OF_USERS = new Set<LeftKind>(['session', 'device code', "owner's invitation"]);
const CASES = LEFT_KINDS.flatMap((kind) =>
  (['removed', 'demoted', 'disabled'] as const)
    .filter((loss) => loss !== 'disabled' || !OF_USERS.has(kind))
    .map((loss) => ({ kind, loss, end: LEFT_BEHIND[kind].end as End })),
);

describe('what a member has made', () => {
  test.each(CASES)('a $kind is $end once its maker is $loss', async ({ kind, loss, end }) => {
    const maker = loss === 'disabled' ? await aServiceAccount() : await aUser();
    const worksBefore = await makes[kind](maker);
    const unused = await makes[kind](maker);
    expect(await worksBefore()).toBe(true);
    expect((await LOSSES[loss].lose(maker)).status).toBeLessThan(300);
    expect(await unused()).toBe(end === 'stays');
    await LOSSES[loss].regain(maker);
    // What was ended stays so: the right that comes back is to make another one.
    if (end !== 'judged') expect(await unused()).toBe(end === 'stays');
  });

  test('is ended in the audit log, by its kind and its id', async () => {
    const maker = await aUser();
    await makes.invitation(maker);
    await makes.silence(maker);
    await LOSSES.removed.lose(maker);
    const { rows } = await api.owner.query(
      `SELECT detail ->> 'ended' AS kind, detail -> 'count' AS count FROM audit_entry
       WHERE target_id = $1 AND detail ? 'ended' ORDER BY 1`,
      [maker.userId],
    );
    expect(rows).toEqual([
      { kind: 'invitation', count: 1 },
      { kind: 'silence', count: 1 },
    ]);
  });

  test('works on where the role that is left allows it', async () => {
    const maker = await aUser();
    const silence = await makes.silence(maker);
    const webhook = await makes.webhook(maker);
    await api.call('PATCH', `/members/${maker.userId}`, { body: { role: 'operator' } });
    expect([await silence(), await webhook()]).toEqual([true, false]);
  });

  test('is for its new keeper where another admin has changed it since', async () => {
    const maker = await aUser();
    const webhook = await makes.webhook(maker);
    const { items = [] } = (await api.call('GET', '/webhooks')).body;
    await api.call('PATCH', `/webhooks/${items[0]?.id}`, { body: { name: 'ours now' } });
    await LOSSES.removed.lose(maker);
    expect(await webhook()).toBe(true);
  });
});

test('what is being made while its maker is removed is refused, and is not there', async () => {
  const maker = await aUser();
  const { organizationId } = api.seed;
  // Requests that make webhooks of one organization go one by one: the maker's waits here, let in already.
  await api.owner.query('BEGIN');
  await api.owner.query(`SELECT pg_advisory_xact_lock(hashtextextended('webhooks ' || $1::text, 0))`, [
    organizationId,
  ]);
  const body = { name: 'late', url: 'https://example.test/' };
  const making = api.call('POST', '/webhooks', { token: maker.secret, body });
  await untilLockIsAwaited(api.database.ownerUrl, 'holdfast-api');
  expect((await LOSSES.removed.lose(maker)).status).toBe(204);
  await api.owner.query('COMMIT');
  expect(await making).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
  const { body: seen } = await api.call('GET', `/webhooks?filter=${encodeURIComponent('name="late"')}`);
  expect(seen.items).toEqual([]);
});

async function join(userId: string, role: string): Promise<string> {
  const secret = `hfs_${randomUUID()}`;
  await api.owner.query(
    'INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, $3, now())',
    [api.seed.organizationId, userId, role],
  );
  await api.owner.query(
    `INSERT INTO token (id, organization_id, kind, name, secret_hash, role, user_id, created_at)
     VALUES ($1, $2, 'session', 'session', $3, $4, $5, now())`,
    [randomUUID(), api.seed.organizationId, hashSecret(secret), role, userId],
  );
  return secret;
}

/** An owner with a session. */
async function aUser(): Promise<TestMaker> {
  const userId = randomUUID();
  await api.owner.query(
    `INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'Maker', now())`,
    [userId, `${userId}@example.test`],
  );
  return { userId, secret: await join(userId, 'owner') };
}

async function aServiceAccount(): Promise<TestMaker> {
  const body = { name: randomUUID().slice(0, 20), role: 'admin' };
  const { id } = (await api.call('POST', '/service-accounts', { body })).body;
  const made = await api.call('POST', `/service-accounts/${id}/tokens`, { body: { name: 'maker' } });
  return { userId: String(id), secret: String(made.body.token) };
}
