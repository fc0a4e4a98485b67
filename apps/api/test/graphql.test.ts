import { GIB } from '@holdfast/core/model/bytes.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import { Tenant } from '../src/access/tenant.js';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;

beforeAll(async () => {
  api = await OwnApi.begin();
  for (const zone of ['a', 'b', 'c']) await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

async function ask(query: string, variables: object = {}, token: string | null = api.seed.token) {
  const answer = await api.send({
    method: 'POST',
    url: '/graphql',
    headers: token === null ? {} : { authorization: `Bearer ${token}` },
    payload: { query, variables: { clusterId: api.seed.clusterId, ...variables } },
  });
  return { status: answer.statusCode, body: JSON.parse(answer.body) };
}

describe('queries', () => {
  test('a volume reads as it does in REST', async () => {
    const volume = await api.createVolume({ name: 'same' });
    const { body } = await ask(
      `query ($clusterId: ID!, $volumeId: ID!) { volume(clusterId: $clusterId, volumeId: $volumeId) {
        id name size state conditions { type status } replicas { id zone nodeId mode } endpoint { nbdUri } } }`,
      { volumeId: volume.id },
    );
    const rest = await api.call('GET', `${api.volumes}/${volume.id}`);
    expect(rest.body).toMatchObject(body.data.volume);
    expect(body.data.volume.replicas).toHaveLength(3);
  });

  test('connections are followed by their cursors', async () => {
    for (const name of ['page-1', 'page-2', 'page-3']) await api.createVolume({ name });
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { body } = await ask(
        `query ($clusterId: ID!, $after: String) {
          volumes(clusterId: $clusterId, first: 2, after: $after, filter: "name!=same", sort: "name") {
            edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }`,
        { after },
      );
      const { edges, pageInfo } = body.data.volumes;
      names.push(...edges.map(({ node }: { node: { name: string } }) => node.name));
      after = pageInfo.hasNextPage ? pageInfo.endCursor : null;
    } while (after !== null);
    expect(names).toEqual(['page-1', 'page-2', 'page-3']);
  });

  test('what organization and cluster are configured with reads as it does in REST', async () => {
    const { body } = await ask(`query ($clusterId: ID!) {
      organizations { edges { node { id name } } }
      projects { edges { node { id name } } }
      members { edges { node { name email role } } }
      tokens { edges { node { id name role } } }
      settings(clusterId: $clusterId) { name value default isDefault definition { type min max options } }
      setting(clusterId: $clusterId, name: "balance-alpha") { name value }
    }`);
    expect(body.errors).toBeUndefined();
    const rest = await api.call('GET', `/clusters/${api.seed.clusterId}/settings`);
    expect(rest.body.items).toMatchObject(
      body.data.settings.map(({ name, value, isDefault }: Record<string, unknown>) => ({
        name,
        value,
        isDefault,
      })),
    );
    expect(body.data.setting).toEqual({ name: 'balance-alpha', value: 1 });
    for (const list of ['organizations', 'projects', 'members', 'tokens']) {
      const { body: page } = await api.call('GET', `/${list}`);
      const names = (page.items ?? []).map((item: Json) => item.name);
      expect(names.length).toBeGreaterThan(0);
      expect(body.data[list].edges.map(({ node }: { node: { name: string } }) => node.name)).toEqual(names);
    }
  });

  test('one disk and one token read as in REST, and what is not there is said', async () => {
    const [disk] = (await api.call('GET', `/clusters/${api.seed.clusterId}/disks`)).body.items ?? [];
    const [token] = (await api.call('GET', '/tokens')).body.items ?? [];
    const query = `query ($clusterId: ID!, $nodeId: ID!, $diskId: ID!, $tokenId: ID!) {
      disk(clusterId: $clusterId, nodeId: $nodeId, diskId: $diskId) { id name storageMaximum }
      token(tokenId: $tokenId) { id name role } }`;
    const variables = { nodeId: disk?.nodeId, diskId: disk?.id, tokenId: token?.id };
    const { body } = await ask(query, variables);
    expect(disk).toMatchObject(body.data.disk);
    expect(token).toMatchObject(body.data.token);
    const missing = await ask(query, { ...variables, diskId: '01890000-0000-7000-8000-000000000000' });
    expect(missing.body.errors).toHaveLength(1);
  });

  test('a placement is explained as in REST', async () => {
    const volume = await api.createVolume({ name: 'explained' });
    const { body } = await ask(
      `query ($clusterId: ID!, $volumeId: ID!) { explainVolume(clusterId: $clusterId, volumeId: $volumeId) {
        volumeId replicas { nodeName zone message } nextReplica { fits refusals { rule reason cure } } } }`,
      { volumeId: volume.id },
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.explainVolume).toMatchObject({ volumeId: volume.id, nextReplica: { fits: false } });
  });

  test('everything else can be read too', async () => {
    const { body } = await ask(`query ($clusterId: ID!) {
      clusters { edges { node { id name storage { maximum } } } }
      cluster(clusterId: $clusterId) { volumes { total } }
      nodes(clusterId: $clusterId) { edges { node { name zone storage { available } } } }
      disks(clusterId: $clusterId) { edges { node { name storageMaximum } } }
      rebuilds(clusterId: $clusterId) { edges { node { id percent eta { p50 } } } }
      events(clusterId: $clusterId, first: 5) { edges { node { type subject { kind } } } }
    }`);
    expect(body.errors).toBeUndefined();
    expect(body.data.nodes.edges).toHaveLength(3);
    expect(body.data.disks.edges).toHaveLength(3);
  });
});

describe('mutations', () => {
  test('create, patch, attach, detach and delete a volume', async () => {
    const created = await ask(
      `mutation ($clusterId: ID!, $input: CreateVolumeInput!) { createVolume(clusterId: $clusterId, input: $input) {
        id state numberOfReplicas } }`,
      { input: { name: 'by-graphql', size: GIB, numberOfReplicas: 2 } },
    );
    const { id } = created.body.data.createVolume;
    const act = (mutation: string) =>
      ask(
        `mutation ($clusterId: ID!, $volumeId: ID!) { ${mutation} }`.replace(
          'KEY',
          'clusterId: $clusterId, volumeId: $volumeId',
        ),
        { volumeId: id },
      );
    const patched = await act('patchVolume(KEY, input: {numberOfReplicas: 3}) { numberOfReplicas }');
    expect(patched.body.data.patchVolume).toEqual({ numberOfReplicas: 3 });
    expect((await act('attachVolume(KEY, input: {}) { id }')).body.data.attachVolume).toEqual({ id });
    const whileWanted = await act('deleteVolume(KEY) { id }');
    expect(whileWanted.body.errors[0].extensions).toMatchObject({
      code: 'volume.attached',
      problem: { status: 409 },
    });
    expect((await act('detachVolume(KEY, input: {force: true}) { id }')).body.errors).toBeUndefined();
    expect((await act('deleteVolume(KEY) { state }')).body.data.deleteVolume).toEqual({ state: 'deleting' });
  });
});

describe('refusals', () => {
  test('bad input is named by pointer', async () => {
    const { body } = await ask(
      `mutation ($clusterId: ID!) { createVolume(clusterId: $clusterId, input: {name: "x", size: 4097}) { id } }`,
    );
    expect(body.errors[0].extensions.problem).toMatchObject({
      code: 'request.invalid',
      errors: [{ pointer: '/input/size' }],
    });
  });

  test('no token is 401, another tenant finds nothing, a viewer changes nothing', async () => {
    expect(await ask('{ clusters { edges { cursor } } }', {}, null)).toMatchObject({
      status: 401,
      body: { code: 'auth.missing' },
    });
    const volume = await api.createVolume();
    const { token } = await api.otherTenant();
    const foreign = await ask(
      'query ($clusterId: ID!, $volumeId: ID!) { volume(clusterId: $clusterId, volumeId: $volumeId) { id } }',
      { volumeId: volume.id },
      token,
    );
    expect(foreign.body.errors[0].extensions.code).toBe('volume.not_found');
    const viewer = await ask(
      'mutation ($clusterId: ID!, $volumeId: ID!) { deleteVolume(clusterId: $clusterId, volumeId: $volumeId) { id } }',
      { volumeId: volume.id },
      await api.tokenOfRole('viewer'),
    );
    expect(viewer.body.errors[0].extensions.code).toBe('auth.forbidden');
  });

  test.each([
    ['an unknown field', '{ nope }'],
    ['no GraphQL at all', '{{'],
    [
      'very many root fields',
      `{ ${Array.from({ length: 30 }, (_, i) => `a${i}: clusters { edges { cursor } }`).join(' ')} }`,
    ],
    [
      'very many fields',
      `{ clusters { edges { node { ${Array.from({ length: 600 }, (_, i) => `n${i}: name`).join(' ')} } } } }`,
    ],
  ])('%s is refused before it runs', async (_name, query) => {
    const { status, body } = await ask(query);
    expect(status).toBe(400);
    expect(body.data).toBeNull();
    expect(body.errors.length).toBeGreaterThan(0);
  });
});

describe('an operation that takes longer than ten seconds', () => {
  /** After its first transaction has begun, the time is eleven seconds later. */
  async function askSlowly(query: string) {
    const began = Date.now();
    let isLate = false;
    const clock = jest
      .spyOn(systemClock, 'now')
      .mockImplementation(() => new Date(began + (isLate ? 11_000 : 0)));
    const slow = (['read', 'write'] as const).map((method) => {
      const original = Tenant.prototype[method];
      return jest.spyOn(Tenant.prototype, method).mockImplementation(function (this: Tenant, ...given) {
        isLate = true;
        return Reflect.apply(original, this, given);
      });
    });
    try {
      return (await ask(query)).body;
    } finally {
      for (const spy of [clock, ...slow]) spy.mockRestore();
    }
  }

  test('reads nothing further, and says so', async () => {
    const body = await askSlowly(
      '{ clusters { edges { node { name volumesConnection { edges { cursor } } } } } }',
    );
    expect(body.data.clusters.edges).toEqual([{ node: { name: 'local', volumesConnection: null } }]);
    expect(body.errors).toMatchObject([{ extensions: { code: 'request.timed_out' } }]);
  });

  test('makes no mutation that has not begun', async () => {
    const create = (name: string) => `${name}: createProject(input: { name: "${name}" }) { name }`;
    const body = await askSlowly(`mutation { ${create('begun')} ${create('late')} }`);
    expect(body.errors).toMatchObject([{ path: ['late'], extensions: { code: 'request.timed_out' } }]);
    const { body: projects } = await api.call('GET', '/projects');
    const names = projects.items?.map(({ name }) => name);
    expect([names?.includes('begun'), names?.includes('late')]).toEqual([true, false]);
  });
});
