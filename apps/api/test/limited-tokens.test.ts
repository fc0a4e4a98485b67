/**
 * What an owner's token that is limited to one project, or to one cluster, may do outside it: every operation that names neither a
 * cluster, a project nor a volume is asked. The list of them is the OpenAPI document's, so one that is added later is asked too.
 */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Answer, Json } from './api-fixture.js';
import { type DocumentedOperation, documentedOperations } from './documented-operations.js';
import { makeOneOfEach } from './one-of-each.js';
import { OPEN_TO_LIMITED_TOKENS } from './open-to-limited-tokens.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;
/** Of each kind one, outside the project and outside the cluster. */
const outside: Record<string, string> = {};
let projectId: string;
let clusterId: string;

beforeAll(async () => {
  api = await OwnApi.begin();
  Object.assign(outside, await makeOneOfEach(api));
  projectId = String((await api.call('POST', '/projects', { body: { name: 'inside' } })).body.id);
  clusterId = String((await api.call('POST', '/clusters', { body: { name: 'inside' } })).body.id);
});
afterAll(() => api?.stop());

const NAMES_A_PART = /\{(?:clusterId|projectId|volumeId)\}/;
const OF_THE_WHOLE = documentedOperations().filter(
  ({ path, isPublic, isAgents }) => !isPublic && !isAgents && !NAMES_A_PART.test(path),
);

async function limitedToken(limits: Json): Promise<{ id: string; token: string }> {
  const made = await api.call('POST', '/tokens', { body: { name: 'part', role: 'owner', ...limits } });
  expect(made).toMatchObject({ status: 201 });
  return { id: String(made.body.id), token: String(made.body.token) };
}

function ask({ method, path, body }: DocumentedOperation, token: string): Promise<Answer> {
  const filled = path.replace('/api/v1', '').replace(/\{(\w+)\}/g, (_, name) => outside[name] ?? 'missing');
  // A stream of what the caller may see has no end: one that can't be read is asked for.
  const asked = filled === '/events/stream' ? `${filled}?filter=unreadable` : filled;
  return api.call(method.toUpperCase(), asked, { token, ...(body === undefined ? {} : { body }) });
}

/** It did nothing, and showed nothing: refused, not there, or a list of nothing. */
function isClosed({ status, body }: Answer): boolean {
  return status === 403 || status === 404 || (status === 200 && body.items?.length === 0);
}

describe.each([
  {
    of: 'project',
    limits: () => ({ projectIds: [projectId] }),
    hidden: () => [outside.projectId, outside.volumeId],
  },
  {
    of: 'cluster',
    limits: () => ({ clusterIds: [clusterId] }),
    hidden: () => [outside.clusterId, outside.volumeId],
  },
])("an owner's token for one $of", ({ limits, hidden }) => {
  test('does nothing to the whole organization', async () => {
    const found: string[] = [];
    for (const operation of OF_THE_WHOLE) {
      // A token of its own: some of these end the one that asks.
      const { token } = await limitedToken(limits());
      const answer = await ask(operation, token);
      if (!isClosed(answer)) found.push(operation.name);
      for (const id of hidden()) {
        const shown = JSON.stringify(answer.body);
        expect([operation.name, answer.status < 300 && shown.includes(String(id))]).toEqual([
          operation.name,
          false,
        ]);
      }
    }
    expect(found.sort()).toEqual(Object.keys(OPEN_TO_LIMITED_TOKENS).sort());
    expect(OF_THE_WHOLE.length).toBeGreaterThan(40);
  });

  test('is told which limit of it is in the way', async () => {
    const { token } = await limitedToken(limits());
    const invite = { token, body: { email: 'mallory@example.org', role: 'owner' } };
    const refused = await api.call('POST', '/invitations', invite);
    expect(refused).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
    expect(refused.body.detail).toMatch(/limited to (?:projects|clusters).*whole organization/);
    const quota = `/organizations/${outside.organizationId}/quota`;
    for (const method of ['GET', 'PUT']) {
      const body = method === 'PUT' ? { body: {} } : {};
      expect((await api.call(method, quota, { token, ...body })).body.code).toBe('auth.forbidden');
    }
  });

  test('does by GraphQL no more', async () => {
    const { token } = await limitedToken(limits());
    const given = { userId: outside.userId, organizationId: outside.organizationId };
    for (const query of [
      'mutation { createInvitation(input: { email: "mallory@example.org", role: "owner" }) { secret } }',
      'mutation ($userId: ID!) { patchMember(userId: $userId, input: { role: "viewer" }) { role } }',
      'mutation ($userId: ID!) { deleteMember(userId: $userId) }',
      'mutation ($organizationId: ID!) { setOrganizationQuota(organizationId: $organizationId, input: {}) { version } }',
      '{ auditEntries { edges { node { id } } } }',
      '{ members { edges { node { userId } } } }',
      'mutation { createProject(input: { name: "beside" }) { id } }',
    ]) {
      const { body } = await api.graphql(query, given, token);
      expect([query, body.errors?.[0]?.extensions?.code]).toEqual([query, 'auth.forbidden']);
    }
  });

  test('finds and ends itself and what was made with it, and no other token of its user', async () => {
    const mine = await limitedToken(limits());
    const other = await limitedToken({});
    const child = await api.call('POST', '/tokens', { token: mine.token, body: { name: 'child' } });
    const [id, token] = [String(child.body.id), String(child.body.token)];
    const grandchild = await api.call('POST', '/tokens', { token, body: { name: 'grandchild' } });
    const { body } = await api.call('GET', '/tokens', { token: mine.token });
    expect(body.items?.map((item) => item.id).sort()).toEqual([mine.id, id, grandchild.body.id].sort());
    const query = '{ tokens { edges { node { id } } } }';
    expect((await api.graphql(query, {}, mine.token)).body.data.tokens.edges).toHaveLength(3);
    const ends = async (tokenId: unknown) =>
      (await api.call('DELETE', `/tokens/${String(tokenId)}`, { token: mine.token })).status;
    expect(await ends(other.id)).toBe(404);
    const rotated = await api.call('POST', `/tokens/${other.id}/rotate`, { token: mine.token });
    expect(rotated.status).toBe(404);
    expect([await ends(grandchild.body.id), await ends(id), await ends(mine.id)]).toEqual([204, 204, 204]);
    expect((await api.call('GET', '/tokens', { token: other.token })).status).toBe(200);
  });
});

describe("a project's token and a cluster, which all projects share", () => {
  const CHANGES = documentedOperations().filter(
    ({ path, method, isAgents }) =>
      !isAgents && method !== 'get' && path.includes('{clusterId}') && !path.includes('{volumeId}'),
  );
  /** Of single volumes, which the database shows by their projects, or a question that is asked by POST. */
  const ELSEWHERE = /\{clusterId\}\/(?:volumes|rebuilds|operations|placements)\b|\/drain-plan$/;

  test('changes nothing of it', async () => {
    const { token } = await limitedToken({ projectIds: [projectId] });
    const asked = CHANGES.filter(({ name }) => !ELSEWHERE.test(name));
    const wrong: string[] = [];
    for (const operation of asked) {
      const { status, body } = await ask(operation, token);
      if (status !== 403 || !String(body.detail).includes('limited to projects')) {
        wrong.push(`${operation.name}: ${status}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(asked.length).toBeGreaterThan(20);
  });
});
