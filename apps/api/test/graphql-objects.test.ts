/** Objects of the GraphQL API: found by their ids alone, and read through each other with a bounded number of statements. */
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

const NESTED = `query ($clusterId: ID!, $first: Int!) { cluster(clusterId: $clusterId) {
  volumesConnection(first: $first) { edges { node { name cluster { name }
    snapshotsConnection(first: 2) { edges { node { name } } }
    replicas { id node { name disksConnection(first: 2) { edges { node { name } } } } disk { name node { name } } } } } } } }`;

/** Runs the query, and counts the statements that the API has sent to Postgres for it. */
async function counted(query: string, variables: object) {
  const sent = jest.spyOn(pg.Client.prototype, 'query');
  try {
    const { body } = await api.graphql(query, variables);
    expect(body.errors).toBeUndefined();
    return { data: body.data, statements: sent.mock.calls.length };
  } finally {
    sent.mockRestore();
  }
}

/** The fewest statements of several runs: what the process does in the background, such as sealing the audit log, only adds some. */
async function countedAlone(query: string, variables: object) {
  const runs = [];
  for (let run = 0; run < 4; run += 1) runs.push(await counted(query, variables));
  const [least] = runs.sort((a, b) => a.statements - b.statements);
  if (least === undefined) throw new Error('the query has not run');
  return least;
}

test('a nested page costs as many statements with twelve volumes as with two', async () => {
  for (let n = 10; n < 22; n += 1) {
    const volume = await api.createVolume({ name: `nested-${n}` });
    await api.owner.query(
      `INSERT INTO snapshot (id, organization_id, volume_id, name, origin, created_at)
       VALUES (gen_random_uuid(), $1, $2, 'first', 'user', now())`,
      [api.seed.organizationId, volume.id],
    );
  }
  const few = await countedAlone(NESTED, { first: 2 });
  const many = await countedAlone(NESTED, { first: 12 });
  const volumes = many.data.cluster.volumesConnection.edges;
  expect(volumes).toHaveLength(12);
  expect(volumes[11].node).toMatchObject({
    name: 'nested-21',
    snapshotsConnection: { edges: [{ node: { name: 'first' } }] },
    replicas: [0, 1, 2].map(() => ({
      node: { name: expect.stringMatching(/^node-/), disksConnection: { edges: [expect.anything()] } },
      disk: { node: { name: expect.stringMatching(/^node-/) } },
    })),
  });
  expect(many.statements).toBe(few.statements);
  // Each of nine reads begins a transaction, asks once or twice, and ends it; two more are of the token.
  expect(many.statements).toBeLessThan(35);
});

test('nested pages go on by their own cursors', async () => {
  const page = async (after: string | null) => {
    const { data } = await counted(
      `query ($clusterId: ID!, $after: String) { cluster(clusterId: $clusterId) {
        nodesConnection(first: 2, after: $after) { edges { node { name } } pageInfo { hasNextPage endCursor } } } }`,
      { after },
    );
    return data.cluster.nodesConnection;
  };
  const first = await page(null);
  expect(first).toMatchObject({
    edges: [{ node: { name: 'node-a' } }, { node: { name: 'node-b' } }],
    pageInfo: { hasNextPage: true },
  });
  expect((await page(first.pageInfo.endCursor)).edges).toEqual([{ node: { name: 'node-c' } }]);
});

describe('an id alone', () => {
  test('finds its object, of whichever kind it is', async () => {
    const volume = await api.createVolume({ name: 'by-id' });
    const [replica] = (await api.call('GET', `${api.volumes}/${volume.id}/replicas`)).body.items ?? [];
    const { data } = await counted(
      `query ($ids: [ID!]!, $id: ID!) { node(id: $id) { id ... on Volume { name size } }
        nodesById(ids: $ids) { id __typename } }`,
      { id: volume.id, ids: [api.seed.clusterId, replica?.id, api.seed.projectId] },
    );
    expect(data.node).toEqual({ id: volume.id, name: 'by-id', size: volume.size });
    expect(data.nodesById).toEqual([
      { id: api.seed.clusterId, __typename: 'Cluster' },
      { id: replica?.id, __typename: 'Replica' },
      { id: api.seed.projectId, __typename: 'Project' },
    ]);
  });

  test.each(['01890000-0000-7000-8000-000000000000', 'nothing'])(
    '%s of nothing finds nothing',
    async (id) => {
      const { body } = await api.graphql('query ($id: ID!) { node(id: $id) { id } }', { id });
      expect(body).toMatchObject({
        data: { node: null },
        errors: [{ extensions: { code: 'request.not_found' } }],
      });
    },
  );

  test('of too many objects is refused', async () => {
    const ids = Array.from({ length: 21 }, () => api.seed.clusterId);
    const { body } = await api.graphql('query ($ids: [ID!]!) { nodesById(ids: $ids) { id } }', { ids });
    expect(body.errors[0].extensions.code).toBe('request.invalid');
  });
});

describe('fields that are made of routes', () => {
  test('write as the routes do, by the version that was read', async () => {
    const { body } = await api.graphql(
      'mutation { createProject(input: { name: "by-graphql" }) { id name version } }',
    );
    const { id, version } = body.data.createProject;
    const rename = (name: string) =>
      api.graphql(
        `mutation ($id: ID!, $version: SafeInteger) { patchProject(projectId: $id, input: { name: "${name}" }, ifVersion: $version) { name } }`,
        { id, version },
      );
    expect((await rename('renamed')).body.data.patchProject).toEqual({ name: 'renamed' });
    expect((await rename('again')).body.errors[0].extensions.code).toBe('request.stale');
    const gone = await api.graphql('mutation ($id: ID!) { deleteProject(projectId: $id) }', { id });
    expect(gone.body.data).toEqual({ deleteProject: true });
    expect((await api.call('GET', `/projects/${id}`)).status).toBe(404);
  });

  test('stand in the audit log by their names and targets', async () => {
    const { body } = await api.graphql('mutation { createProject(input: { name: "audited" }) { id } }');
    const { id } = body.data.createProject;
    await api.graphql('mutation ($id: ID!) { patchProject(projectId: $id, input: { name: "b" }) { id } }', {
      id,
    });
    await api.graphql(
      'mutation ($clusterId: ID!) { setSetting(clusterId: $clusterId, name: "balance-alpha", input: { value: 0.5 }) { name } }',
    );
    // What was refused before is written within a second after it, so perhaps only now.
    const entries = (await api.call('GET', '/audit?limit=3&filter=result%3Ddone')).body.items ?? [];
    expect(entries).toMatchObject([
      {
        action: 'mutation setSetting',
        target: { kind: 'setting', id: 'balance-alpha' },
        after: { value: 0.5 },
      },
      { action: 'mutation patchProject', target: { kind: 'project', id }, before: { name: 'audited' } },
      { action: 'mutation createProject', detail: { created: id } },
    ]);
  });

  test('name what is wrong of their input', async () => {
    const { body } = await api.graphql('mutation { createProject(input: { name: "" }) { id } }');
    expect(body.errors[0].extensions.problem).toMatchObject({ errors: [{ pointer: '/input/name' }] });
  });

  test('refuse what is of no cluster to a token that is limited to some', async () => {
    const { body: token } = await api.call('POST', '/tokens', {
      body: { name: 'limited', clusterIds: [api.seed.clusterId] },
    });
    const { body } = await api.graphql(
      'mutation { createProject(input: { name: "p" }) { id } }',
      {},
      String(token.token),
    );
    expect(body.errors[0].extensions.code).toBe('auth.forbidden');
  });

  test('list in pages as the routes do', async () => {
    const { body } = await api.graphql(
      'query { auditEntries(first: 2) { edges { cursor node { action } } pageInfo { hasNextPage endCursor } } }',
    );
    const { edges, pageInfo } = body.data.auditEntries;
    expect(edges).toHaveLength(2);
    const rest = await api.call('GET', `/audit?limit=1&cursor=${edges[0].cursor}`);
    expect(rest.body.items).toMatchObject([{ action: edges[1].node.action }]);
    expect(pageInfo).toEqual({ hasNextPage: true, endCursor: edges[1].cursor });
  });
});
