/** Service accounts: members for programs, which own tokens and never sign in. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

async function account(body: Json = {}): Promise<Json> {
  const name = `account-${Math.random().toString(36).slice(2)}`;
  const made = await api.call('POST', '/service-accounts', { body: { name, role: 'operator', ...body } });
  expect(made.status).toBe(201);
  return made.body;
}

async function tokenOf({ id }: Json, body: Json = {}): Promise<string> {
  const made = await api.call('POST', `/service-accounts/${id}/tokens`, { body: { name: 't', ...body } });
  expect(made.status).toBe(201);
  return String(made.body.token);
}

const reach = async (token: string) => (await api.call('GET', '/projects', { token })).status;

describe('a service account', () => {
  test('does with its token what its role allows, and is told by its name', async () => {
    const ci = await account({ name: 'ci' });
    const token = await tokenOf(ci);
    expect((await api.call('GET', '/sessions/current', { token })).body).toMatchObject({
      userId: ci.id,
      name: 'ci',
      role: 'operator',
    });
    expect((await api.call('POST', '/projects', { token, body: { name: 'p' } })).status).toBe(403);
    const { body } = await api.call('GET', `/service-accounts/${ci.id}`);
    expect(body).toMatchObject({ name: 'ci', role: 'operator', isDisabled: false, tokens: 1, version: 1 });
    const { body: tokens } = await api.call('GET', `/tokens?filter=userId=${ci.id}`);
    expect(tokens.items).toMatchObject([{ userId: ci.id, name: 't' }]);
  });

  test("has its tokens rotated by admins, who can only revoke other members'", async () => {
    const { body: ofAccount } = await api.call('POST', `/service-accounts/${(await account()).id}/tokens`, {
      body: { name: 't', role: 'operator' },
    });
    const { body: ofMember } = await api.call('POST', '/tokens', {
      token: await api.tokenOfRole('viewer'),
      body: { name: 'own' },
    });
    const token = await api.tokenOfRole('admin');
    const rotated = async ({ id }: Json) =>
      (await api.call('POST', `/tokens/${id}/rotate`, { token })).status;
    expect([await rotated(ofMember), await rotated(ofAccount)]).toEqual([403, 200]);
    expect((await api.call('DELETE', `/tokens/${ofMember.id}`, { token })).status).toBe(204);
  });

  test('is a member, with roles in projects as others have', async () => {
    const one = await account({ role: 'member' });
    const { body: members } = await api.call('GET', '/members?limit=200');
    expect(members.items).toContainEqual(
      expect.objectContaining({ userId: one.id, isServiceAccount: true, role: 'member' }),
    );
    const path = `/projects/${api.seed.projectId}/members/${one.id}`;
    expect((await api.call('PUT', path, { body: { role: 'viewer' } })).body).toMatchObject({
      isServiceAccount: true,
      role: 'viewer',
    });
    const token = await tokenOf(one);
    expect((await api.call('GET', api.volumes, { token })).status).toBe(200);
  });

  test('lets no one in while it is disabled, on streams neither', async () => {
    const one = await account();
    const token = await tokenOf(one);
    expect(await reach(token)).toBe(200);
    const set = (isDisabled: boolean) =>
      api.call('PATCH', `/service-accounts/${one.id}`, { body: { isDisabled } });
    const disabled = (await set(true)).body;
    expect(disabled).toMatchObject({ isDisabled: true, disabledAt: expect.any(String) });
    expect(await reach(token)).toBe(401);
    const { rows } = await api.owner.query(
      'SELECT * FROM live_secrets((SELECT array_agg(secret_hash) FROM token WHERE user_id = $1))',
      [one.id],
    );
    expect(rows).toEqual([]);
    expect((await set(true)).body.disabledAt).toBe(disabled.disabledAt);
    expect((await set(false)).body).toMatchObject({ isDisabled: false, disabledAt: null });
    expect(await reach(token)).toBe(200);
  });

  test.each(['service-accounts', 'members'])(
    'is gone with its tokens when it is deleted from %s',
    async (list) => {
      const one = await account();
      const token = await tokenOf(one);
      expect((await api.call('DELETE', `/${list}/${one.id}`)).status).toBe(204);
      expect(await reach(token)).toBe(401);
      expect((await api.call('GET', `/service-accounts/${one.id}`)).status).toBe(404);
      const { rows } = await api.owner.query('SELECT FROM app_user WHERE id = $1', [one.id]);
      expect(rows).toEqual([]);
    },
  );

  test('stands in the audit log with what was changed', async () => {
    const one = await account();
    await api.call('PATCH', `/service-accounts/${one.id}`, { body: { role: 'viewer' } });
    const { body } = await api.call('GET', '/audit?limit=1&filter=result%3Ddone');
    expect(body.items).toMatchObject([
      {
        target: { kind: 'serviceAccount', id: one.id },
        before: { role: 'operator' },
        after: { role: 'viewer' },
      },
    ]);
  });
});

describe('a service account never signs in', () => {
  const emailOf = ({ id }: Json) => `${id}@service-account.invalid`;

  test('with a password, which it can not be given', async () => {
    const one = await account({ role: 'admin' });
    const signIn = { email: emailOf(one), password: api.seed.password };
    expect((await api.call('POST', '/sessions', { token: null, body: signIn })).status).toBe(401);
    const body = { currentPassword: 'x', newPassword: 'correct-horse-battery-staple' };
    const token = await tokenOf(one);
    expect((await api.call('POST', '/sessions/password', { token, body })).status).toBe(401);
    const set = api.owner.query(`UPDATE app_user SET password_hash = 'h' WHERE id = $1`, [one.id]);
    await expect(set).rejects.toThrow('app_user_service_has_no_password');
  });

  test('by an invitation to its address, here or elsewhere', async () => {
    const one = await account();
    const invite = (token?: string) =>
      api.call('POST', '/invitations', {
        body: { email: emailOf(one), role: 'viewer' },
        ...(token === undefined ? {} : { token }),
      });
    expect(await invite()).toMatchObject({ status: 409, body: { code: 'member.exists' } });
    const { token } = await api.otherTenant();
    const { body } = await invite(token);
    const accept = { secret: body.secret, name: 'n', password: 'correct-horse-battery-staple' };
    expect(await api.call('POST', '/invitations/accept', { token: null, body: accept })).toMatchObject({
      status: 404,
      body: { code: 'invitation.not_found' },
    });
  });

  test.each([
    [
      'a session',
      `INSERT INTO token (id, organization_id, kind, name, secret_hash, role, user_id, created_at)
       VALUES (gen_random_uuid(), $2, 'session', 's', gen_random_uuid()::text, 'viewer', $1, now())`,
    ],
    [
      'an account at a provider',
      `INSERT INTO user_identity (issuer, subject, user_id) SELECT 'i', $2::text, $1`,
    ],
    [
      'a membership elsewhere',
      `INSERT INTO membership (organization_id, user_id, role, created_at) SELECT $3::uuid, $1, 'viewer', now() WHERE $2::text <> ''`,
    ],
  ])('as Postgres holds it to have no %s', async (_what, sql) => {
    const one = await account();
    const { organizationId: other } = await api.otherTenant();
    const values = [one.id, api.seed.organizationId, other].slice(0, sql.includes('$3') ? 3 : 2);
    await expect(api.owner.query(sql, values)).rejects.toThrow('a service account has no');
  });
});

describe('what is refused', () => {
  test('an owner that is a service account', async () => {
    const one = await account();
    const refused = { status: 409, body: { code: 'member.no_owner' } };
    const owner = { body: { role: 'owner' } };
    expect(await api.call('POST', '/service-accounts', { body: { name: 'o', role: 'owner' } })).toMatchObject(
      refused,
    );
    expect(await api.call('PATCH', `/service-accounts/${one.id}`, owner)).toMatchObject(refused);
    expect(await api.call('PATCH', `/members/${one.id}`, owner)).toMatchObject(refused);
  });

  test('a name that is taken, and a version that is older', async () => {
    const one = await account();
    const again = await api.call('POST', '/service-accounts', { body: { name: one.name, role: 'viewer' } });
    expect(again).toMatchObject({ status: 409, body: { code: 'service_account.name_taken' } });
    const stale = await api.call('PATCH', `/service-accounts/${one.id}`, {
      body: { role: 'viewer' },
      headers: { 'if-match': '"7"' },
    });
    expect(stale.status).toBe(412);
  });

  test("a token that allows more than its maker's, or to be made without the right", async () => {
    const strong = await account({ role: 'admin' });
    const admin = await api.tokenOfRole('admin');
    const path = `/service-accounts/${strong.id}/tokens`;
    const { body: token } = await api.call('POST', '/tokens', {
      token: admin,
      body: { name: 'narrow', actions: ['member:write'] },
    });
    const { body: made } = await api.call('POST', path, { token: String(token.token), body: { name: 't' } });
    expect(made.actions).toEqual(['member:write']);
    const operator = await api.tokenOfRole('operator');
    expect((await api.call('POST', path, { token: operator, body: { name: 't' } })).status).toBe(403);
    const wish = { body: { name: 't', role: 'owner' }, token: admin };
    expect((await api.call('POST', path, wish)).body.code).toBe('auth.forbidden');
  });

  test('a user who is no service account', async () => {
    const { body: me } = await api.call('GET', '/sessions/current');
    expect((await api.call('PATCH', `/service-accounts/${me.userId}`, { body: { name: 'n' } })).status).toBe(
      404,
    );
    expect((await api.call('DELETE', `/service-accounts/${me.userId}`)).status).toBe(404);
  });
});

test('GraphQL makes, disables and deletes one as REST does', async () => {
  const { body } = await api.graphql(
    'mutation { createServiceAccount(input: { name: "by-graphql", role: "viewer" }) { id version } }',
  );
  const { id, version } = body.data.createServiceAccount;
  const { body: changed } = await api.graphql(
    `mutation ($id: ID!, $version: SafeInteger) {
      patchServiceAccount(serviceAccountId: $id, input: { isDisabled: true }, ifVersion: $version) { isDisabled }
      createServiceAccountToken(serviceAccountId: $id, input: { name: "t" }) { token }
      deleteServiceAccount(serviceAccountId: $id) }`,
    { id, version },
  );
  expect(changed).toEqual({
    data: {
      patchServiceAccount: { isDisabled: true },
      createServiceAccountToken: { token: expect.stringMatching(/^hft_/) },
      deleteServiceAccount: true,
    },
  });
});
