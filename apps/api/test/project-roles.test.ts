/** Roles in single projects: what is of another project of the same organization is not there. */
import { randomUUID } from 'node:crypto';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Answer, ApiFixture } from './api-fixture.js';

let api: ApiFixture;
/** A project with a volume, and another one with another. */
const mine = { projectId: '', volumeId: '' };
const other = { projectId: '', volumeId: '' };

const codeOf = ({ status, body }: Answer) => [status, body.code];

beforeAll(async () => {
  api = await ApiFixture.start();
  await api.node('node-1', 'zone-a');
  for (const place of [mine, other]) {
    const project = await api.call('POST', '/projects', { body: { name: randomUUID() } });
    place.projectId = String(project.body.id);
    place.volumeId = String((await api.createVolume({ projectId: place.projectId })).id);
  }
});
afterAll(() => api?.stop());

/** A token of a user with one role in the organization and one in the project that is theirs. */
async function tokenOf(role: string, projectRole: string): Promise<string> {
  const token = await api.tokenOfRole(role);
  const permissions = await api.call('GET', '/sessions/current', { token });
  const path = `/projects/${mine.projectId}/members/${permissions.body.userId}`;
  const given = await api.call('PUT', path, { body: { role: projectRole } });
  if (given.status !== 200) throw new Error(JSON.stringify(given.body));
  return token;
}

describe('a member who is operator in one project', () => {
  let token: string;
  beforeAll(async () => {
    token = await tokenOf('member', 'operator');
  });

  const inVolume = (place: typeof mine, tail = '') => `${api.volumes}/${place.volumeId}${tail}`;

  test.each([
    ['GET', ''],
    ['PATCH', ''],
    ['POST', '/attach'],
    ['GET', '/snapshots'],
    ['GET', '/replicas'],
    ['GET', '/settings'],
    ['POST', '/explain'],
  ])('%s volume%s is done in the own project, and finds nothing of the other', async (method, tail) => {
    const body = method === 'GET' ? {} : { body: {} };
    const own = await api.call(method, inVolume(mine, tail), { token, ...body });
    expect(own.status).toBeLessThan(300);
    const foreign = await api.call(method, inVolume(other, tail), { token, ...body });
    expect(codeOf(foreign)).toEqual([404, 'volume.not_found']);
  });

  test('lists hold what is of the own project', async () => {
    const ids = async (path: string) =>
      (await api.call('GET', path, { token })).body.items?.map(({ id }) => id);
    expect(await ids(api.volumes)).toEqual([mine.volumeId]);
    expect(await ids('/projects')).toEqual([mine.projectId]);
    const events = await api.call('GET', `/clusters/${api.seed.clusterId}/events?limit=200`, { token });
    expect(events.body.items).not.toEqual([]);
    expect(JSON.stringify(events.body)).not.toContain(other.volumeId);
    const query = '{ edges { node { id } } }';
    const graphql = await api.graphql(
      `query ($clusterId: ID!) { volumes(clusterId: $clusterId) ${query} projects ${query} }`,
      {},
      token,
    );
    expect(graphql.body.data).toEqual({
      volumes: { edges: [{ node: { id: mine.volumeId } }] },
      projects: { edges: [{ node: { id: mine.projectId } }] },
    });
  });

  test('volumes are created in the own project only, also beside others who may', async () => {
    const create = (projectId: string | undefined, by: { token?: string }) =>
      api.call('POST', api.volumes, {
        ...by,
        body: { name: `v-${randomUUID()}`.slice(0, 20), size: GIB, ...(projectId && { projectId }) },
      });
    // Look-ups of one moment are shared, and must not be with those who see more.
    const together = await Promise.all(
      Array.from({ length: 24 }, (_, index) => create(other.projectId, index % 2 === 0 ? {} : { token })),
    );
    const statuses = together.map(({ status }) => status);
    expect(statuses).toEqual(statuses.map((_, index) => (index % 2 === 0 ? 201 : 422)));
    expect((await create(undefined, { token })).body.projectId).toBe(mine.projectId);
  });

  test('the other project is not there to be named, managed or deleted', async () => {
    const path = `/projects/${other.projectId}`;
    expect(codeOf(await api.call('GET', path, { token }))).toEqual([404, 'project.not_found']);
    const rename = { token, body: { name: 'mine now' } };
    expect(codeOf(await api.call('PATCH', path, rename))).toEqual([403, 'auth.forbidden']);
    expect(codeOf(await api.call('DELETE', path, { token }))).toEqual([403, 'auth.forbidden']);
    expect(codeOf(await api.call('GET', '/members', { token }))).toEqual([403, 'auth.forbidden']);
  });

  test('it is told what it may do, and why', async () => {
    const asked = async (query: string) =>
      (await api.call('GET', `/me/permissions?${query}`, { token })).body.permissions;
    expect(await asked('action=volume:write')).toMatchObject([
      { isAllowed: true, projectIds: [mine.projectId] },
    ]);
    expect(await asked(`action=volume:write&projectId=${other.projectId}`)).toMatchObject([
      { isAllowed: false, projectIds: [] },
    ]);
    const graphql = await api.graphql(
      'query { permissions(action: "volume:write") { isAllowed } }',
      {},
      token,
    );
    expect(graphql.body.data.permissions).toEqual([{ isAllowed: true }]);
    expect(await asked('action=node:write')).toMatchObject([
      { isAllowed: false, why: 'this needs the role admin; yours is member' },
    ]);
  });
});

test('a viewer of all projects is operator in one', async () => {
  const token = await tokenOf('viewer', 'operator');
  const attach = (place: typeof mine) =>
    api.call('POST', `${api.volumes}/${place.volumeId}/detach`, { token, body: {} });
  expect((await api.call('GET', `${api.volumes}/${other.volumeId}`, { token })).status).toBe(200);
  expect((await attach(mine)).status).toBeLessThan(300);
  expect(codeOf(await attach(other))).toEqual([404, 'volume.not_found']);
});

test('an admin of a project says who may use it, and of no other one', async () => {
  const token = await tokenOf('member', 'admin');
  const guest = await api.tokenOfRole('member');
  const { userId } = (await api.call('GET', '/sessions/current', { token: guest })).body;
  const put = (place: typeof mine, headers = {}) =>
    api.call('PUT', `/projects/${place.projectId}/members/${userId}`, {
      token,
      headers,
      body: { role: 'viewer' },
    });
  expect((await api.call('GET', api.volumes, { token: guest })).status).toBe(403);
  expect(await put(mine)).toMatchObject({ status: 200, headers: { etag: '"1"' } });
  expect(codeOf(await put(mine, { 'if-match': '"9"' }))).toEqual([412, 'request.stale']);
  expect(codeOf(await put(other))).toEqual([404, 'project.not_found']);
  const volumes = await api.call('GET', api.volumes, { token: guest });
  expect(volumes.body.items?.map(({ projectId }) => projectId)).toContain(mine.projectId);
  const path = `/projects/${mine.projectId}/members/${userId}`;
  expect((await api.call('DELETE', path, { token })).status).toBe(204);
  expect((await api.call('GET', api.volumes, { token: guest })).status).toBe(403);
});

test('a token of a weaker role has of a role in a project what its own leaves', async () => {
  const token = await tokenOf('viewer', 'operator');
  const weak = await api.call('POST', '/tokens', { token, body: { name: 'reader', role: 'viewer' } });
  const detach = { token: String(weak.body.token), body: {} };
  const answer = await api.call('POST', `${api.volumes}/${mine.volumeId}/detach`, detach);
  expect(codeOf(answer)).toEqual([403, 'auth.forbidden']);
});

describe('a member of one project who signs in with a password', () => {
  const password = `a sentence of ${randomUUID()}`;
  const email = `${randomUUID()}@example.test`;
  let token: string;
  beforeAll(async () => {
    const { secret } = (await api.call('POST', '/invitations', { body: { email, role: 'member' } })).body;
    const body = { secret, name: 'Ada', password };
    const { userId } = (await api.call('POST', '/invitations/accept', { token: null, body })).body;
    token = String(
      (await api.call('POST', '/sessions', { token: null, body: { email, password } })).body.token,
    );
    // Given while the session is there already, which has it at once.
    await api.call('PUT', `/projects/${mine.projectId}/members/${userId}`, { body: { role: 'operator' } });
  });

  const detach = (place: typeof mine, secret: string) =>
    api.call('POST', `${api.volumes}/${place.volumeId}/detach`, { token: secret, body: {} });

  test('does there by the session what the role in the project allows, and nothing elsewhere', async () => {
    const { body } = await api.call('GET', '/me/permissions?action=volume:write', { token });
    expect(body).toMatchObject({ role: 'member', projectRoles: { [mine.projectId]: 'operator' } });
    expect((await detach(mine, token)).status).toBeLessThan(300);
    expect(codeOf(await detach(other, token))).toEqual([404, 'volume.not_found']);
    expect(codeOf(await api.call('GET', '/members', { token }))).toEqual([403, 'auth.forbidden']);
  });

  test('makes tokens that allow as much, and none that would allow more', async () => {
    const made = await api.call('POST', '/tokens', { token, body: { name: 'ci' } });
    expect(made).toMatchObject({ status: 201, body: { role: 'operator' } });
    expect((await detach(mine, String(made.body.token))).status).toBeLessThan(300);
    expect(codeOf(await detach(other, String(made.body.token)))).toEqual([404, 'volume.not_found']);
    const stronger = await api.call('POST', '/tokens', { token, body: { name: 'ci', role: 'admin' } });
    expect(codeOf(stronger)).toEqual([403, 'auth.forbidden']);
    const rotated = await api.call('POST', `/tokens/${made.body.id}/rotate`, { token });
    expect(rotated.status).toBe(200);
  });

  test('has a program sign in that does there what the member may', async () => {
    const begun = (await api.call('POST', '/device/start', { token: null, body: { name: 'cli' } })).body;
    await api.call('POST', `/device/${begun.userCode}/approve`, { token });
    const body = { deviceCode: begun.deviceCode };
    const taken = await api.call('POST', '/device/token', { token: null, body });
    expect((await detach(mine, String(taken.body.token))).status).toBeLessThan(300);
  });
});
