import { randomUUID } from 'node:crypto';
import type { LeftKind } from '@holdfast/access/left-behind.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type UserId } from '@holdfast/core/model/ids.js';
import { enterManaged, findUsableProvider } from '@holdfast/database/queries/managed-accounts.js';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope, transaction } from '@holdfast/database/sql/scope.js';
import type { ApiFixture, Json } from './api-fixture.js';
import { TestAgent } from './test-agent.js';

/** A member who makes things, by a secret that acts as it. */
export type TestMaker = { readonly userId: string; readonly secret: string };

/** Does what was made work? Each question uses it. */
type Use = () => Promise<boolean>;

/** Makes a thing of each kind as the maker, and says how it is used. */
export type Makes = Record<LeftKind, (by: TestMaker) => Promise<Use>>;

export function thingsLeftBehind(api: ApiFixture): Makes {
  const make = async (by: TestMaker, path: string, body: Json, method = 'POST'): Promise<Json> => {
    const answer = await api.call(method, path, { token: by.secret, body });
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const statusOf = async (method: string, path: string, token: string) =>
    (await api.call(method, path, { token })).status;
  /** As its holder does what only admins may. */
  const actsAsAdmin = (token: string) => async () => (await statusOf('GET', '/audit', token)) === 200;
  const cluster = `/clusters/${api.seed.clusterId}`;

  const invitation = (role: string) => async (by: TestMaker) => {
    const email = `${randomUUID()}@example.test`;
    const { secret } = await make(by, '/invitations', { email, role });
    const body = { secret, name: 'Guest', password: `a sentence of ${randomUUID()}` };
    return async () => (await api.call('POST', '/invitations/accept', { token: null, body })).status === 201;
  };

  return {
    session: async ({ secret }) => actsAsAdmin(secret),
    token: async (by) => actsAsAdmin(String((await make(by, '/tokens', { name: 't' })).token)),
    'device code': async (by) => {
      const begun = (await api.call('POST', '/device/start', { token: null, body: { name: 'cli' } })).body;
      await make(by, `/device/${begun.userCode}/approve`, {});
      let token: unknown;
      return async () => {
        const body = { deviceCode: begun.deviceCode };
        token ??= (await api.call('POST', '/device/token', { token: null, body })).body.token;
        return typeof token === 'string' && actsAsAdmin(token)();
      };
    },
    'service account token': async (by) => {
      const { id } = await make(by, '/service-accounts', { name: randomUUID().slice(0, 20), role: 'admin' });
      return actsAsAdmin(String((await make(by, `/service-accounts/${id}/tokens`, { name: 'ci' })).token));
    },
    invitation: invitation('admin'),
    "owner's invitation": invitation('owner'),
    'join token': async (by) => {
      const { token } = await make(by, `${cluster}/join-tokens`, { name: 'rack', usesMax: 5 });
      return async () => {
        const agent = new TestAgent(api, `node-${randomUUID().slice(0, 8)}`);
        return (await agent.join({ token: String(token) })).status === 200;
      };
    },
    silence: async (by) => {
      const endsAt = new Date(Date.now() + 3_600_000).toISOString();
      const body = { matcher: 'rule=NodeSilent', comment: 'quiet', endsAt };
      const { id } = await make(by, `${cluster}/silences`, body);
      return async () => {
        const { body: seen } = await api.call('GET', `${cluster}/silences/${id}`);
        return Date.parse(String(seen.endsAt)) > Date.now();
      };
    },
    webhook: async (by) => {
      const { id } = await make(by, '/webhooks', { name: 'pager', url: 'https://example.test/' });
      return async () => (await api.call('GET', `/webhooks/${id}`)).body.isEnabled === true;
    },
    grant: async (by) => {
      const { organizationId, token } = await api.otherTenant();
      await make(by, `${cluster}/grants`, { organizationId });
      return async () => {
        const body = { name: `v-${randomUUID().slice(0, 8)}`, size: GIB, numberOfReplicas: 1 };
        return (await api.call('POST', api.volumes, { token, body })).status === 201;
      };
    },
    'sign-in provider': async (by) => {
      const { organizationId } = api.seed;
      const path = `/organizations/${organizationId}/sign-in-provider`;
      const given = { issuer: 'https://id.example.org/', clientId: 'holdfast', clientSecret: 'its secret' };
      await make(by, path, { ...given, domains: ['example.org'], defaultRole: 'admin' }, 'PUT');
      return () => newUserEnters(api);
    },
  };
}

/** Does the provider of the seeded organization make an account of a user whom it vouches for the first time? */
async function newUserEnters(api: ApiFixture): Promise<boolean> {
  const pool = createPool(api.database.systemUrl, { connectionsMax: 1, applicationName: 'provider' });
  const newUserId = asId<UserId>(randomUUID());
  const account = { subject: newUserId, email: 'new@example.org', name: 'New', newUserId, now: new Date() };
  try {
    return await transaction(systemScope(pool), async (sql) => {
      const provider = await findUsableProvider(sql, api.seed.organizationId);
      if (provider === undefined) throw new Error('the organization has no provider');
      return (await enterManaged(sql, provider, account)).userId === newUserId;
    });
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'auth.forbidden') return false;
    throw error;
  } finally {
    await pool.end();
  }
}
