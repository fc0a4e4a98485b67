/** GraphQL requests that nothing of ours would send, or that ask for very much in few words. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

describe('a GraphQL request that is none is refused as the fault of its sender', () => {
  const invalid = { extensions: { code: 'request.invalid', problem: { code: 'request.invalid' } } };
  test.each<[string, unknown]>([
    ['a number for a query', { query: 1 }],
    ['a truth for a query', { query: true }],
    ['a list for a query', { query: ['{ __typename }'] }],
    ['a number in a text', { query: '5' }],
    ['nothing in a text', { query: 'null' }],
    ['a parsed query in a text', { query: '{"kind":"Document","definitions":[]}' }],
  ])('such as %s in its place', async (_what, body) => {
    for (const url of ['/graphql', '/graphql/stream']) {
      const answer = await api.send({
        method: 'POST',
        url,
        headers: { authorization: `Bearer ${api.seed.token}` },
        payload: body as object,
      });
      expect([url, answer.statusCode]).toEqual([url, 422]);
      expect(answer.body).toContain('"code":"request.invalid"');
    }
  });

  test.each(['query={__typename}&query={__typename}', 'query=5'])('an address with %s', async (search) => {
    const answer = await api.send({
      url: `/graphql?${search}`,
      headers: { authorization: `Bearer ${api.seed.token}` },
    });
    expect(answer.statusCode).toBe(422);
  });

  test.each(['1e300', '1.5', '-9007199254740993', '"1"', 'true', '[1]', '{a: 1}'])(
    'the size %s in the document',
    async (size) => {
      const { status, body } = await api.graphql(
        `mutation ($clusterId: ID!) { createVolume(clusterId: $clusterId, input: { name: "n", size: ${size} }) { id } }`,
      );
      expect([status, body]).toMatchObject([400, { data: null, errors: [invalid] }]);
    },
  );

  test.each(['{ nothing }', '{', '{ ...a } fragment a on Query { ...a }'])(
    'the document %s, with a problem document in its error',
    async (query) => {
      const { status, body } = await api.graphql(query);
      expect([status, body.errors[0]]).toMatchObject([400, invalid]);
    },
  );
});

describe('GraphQL, of a short request for very much,', () => {
  const volumes = 'volumes(clusterId: $clusterId, first: 200) { edges { node { ...A } } }';
  /** Ten times a list in a list, each of the page that is read where the request does not say how many. */
  const nested = (page: (node: string) => string) =>
    Array.from({ length: 10 }, (_, at) => {
      const inner = `cluster { volumesConnection ${page('id')} }`;
      return `a${at}: volumes(clusterId: $clusterId) ${page(inner)}`;
    }).join(' ');
  const [F, ids] = [
    'fragment A on Volume { id }',
    Array.from({ length: 20 }, () => `"${randomUUID()}"`).join(),
  ];
  test.each([
    [
      'by fragments that double',
      `fragment A on Volume { ...B ...B } fragment B on Volume { ${'id '.repeat(300)} }`,
      volumes,
    ],
    [
      'by aliases',
      'fragment A on Volume { id }',
      Array.from({ length: 30 }, (_, at) => `a${at}: ${volumes}`).join(' '),
    ],
    [
      'by aliases in a fragment of the root',
      `fragment A on Volume { id } fragment R on Query { ${Array.from({ length: 30 }, (_, at) => `a${at}: ${volumes}`).join(' ')} }`,
      '...R',
    ],
    [
      'by pages of pages',
      'fragment A on Volume { id name size state replicas { id nodeId diskId } }',
      Array.from({ length: 15 }, (_, at) => `a${at}: ${volumes}`).join(' '),
    ],
    ['by a page in a page', '', nested((node) => `{ edges { node { ${node} } } }`)],
    [
      'by a page in a page, in inline fragments',
      '',
      nested((node) => `{ ... { edges { ... { node { ${node} } } } } }`),
    ],
    [
      'by a page in a page, in inline fragments of the type',
      '',
      nested((node) => `{ ... on VolumeConnection { edges { node { ... on Volume { ${node} } } } } }`),
    ],
    [
      'by a page in a page, in named fragments',
      `fragment E on VolumeConnection { edges { node { cluster { volumesConnection { ...I } } } } }
       fragment I on VolumeConnection { edges { node { id } } }`,
      Array.from({ length: 10 }, (_, at) => `a${at}: volumes(clusterId: $clusterId) { ...E }`).join(' '),
    ],
    [
      'by a page of many ids',
      F,
      `cluster(clusterId: $clusterId) { id } nodesById(ids: [${ids}]) { ... on Cluster { volumesConnection(first: 200) { edges { node { ...A name size state } } } } }`,
    ],
    [
      'by lists that are no pages, within each other',
      '',
      `volumes(clusterId: $clusterId, first: 200) { edges { node { replicas { volume { replicas { volume { replicas { id nodeId } } } } } } } }`,
    ],
    ['by its length', F, `${volumes} #${'x'.repeat(30_000)}\n`],
  ])('refuses what asks %s', async (_how, fragments, root) => {
    const { status, body } = await api.graphql(`query ($clusterId: ID!) { ${root} } ${fragments}`);
    expect([400, 422]).toContain(status);
    expect(JSON.stringify(body)).toMatch(/may have|may return/);
  });

  test('answers what asks for no more than ten full pages', async () => {
    const { body } = await api.graphql(
      `query ($clusterId: ID!) {
        volumes(clusterId: $clusterId, first: 200) { ... { edges { cursor node { id name replicas { id node { name } } } } } }
        nodesById(ids: ["${api.seed.clusterId}"]) { ... on Cluster { volumesConnection { edges { node { id } } } } } }`,
    );
    expect(body.errors).toBeUndefined();
    expect(body.data.nodesById).toMatchObject([{ volumesConnection: { edges: expect.any(Array) } }]);
  });

  test('a mutation stands in the audit log by its name and its target', async () => {
    const volume = await api.createVolume();
    await api.graphql(
      'mutation ($clusterId: ID!, $volumeId: ID!) { deleteVolume(clusterId: $clusterId, volumeId: $volumeId) { id } }',
      { volumeId: volume.id },
    );
    const { rows } = await api.owner.query(
      'SELECT action, target_kind, target_id FROM audit_entry ORDER BY id DESC LIMIT 1',
    );
    expect(rows).toEqual([{ action: 'mutation deleteVolume', target_kind: 'volume', target_id: volume.id }]);
  });
});
