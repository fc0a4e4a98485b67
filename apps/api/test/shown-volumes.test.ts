/**
 * Lists of volumes are written from what is remembered of earlier ones (docs/design/api-contract.md). Each caller has to see what it would see without
 * that: what it gets for each volume by its own address, which remembers nothing.
 */
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import type { Json } from './api-fixture.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;
let other: Awaited<ReturnType<OwnApi['otherTenant']>>;
/** Tokens: of one who may write, of one who may not, and of one with a volume in the granted cluster, whose nodes it does not see. */
let callers: Record<'admin' | 'viewer' | 'grantee', string>;
let nodeId: string;
let volume: Json;

beforeAll(async () => {
  api = await OwnApi.begin();
  nodeId = await api.node('node-1', 'zone-a');
  await api.node('node-2', 'zone-b');
  other = await api.otherTenant();
  const admin = (await api.call('POST', '/tokens', { body: { name: 'admin' } })).body.token as string;
  callers = { admin, viewer: await api.tokenOfRole('viewer'), grantee: other.token };
  await api.call('POST', `/clusters/${api.seed.clusterId}/grants`, {
    body: { organizationId: other.organizationId },
  });
  const granted = { name: 'granted', size: GIB, numberOfReplicas: 2 };
  await api.call('POST', api.volumes, { token: other.token, body: granted });
  volume = await api.createAttachedVolume(nodeId);
  await api.createVolume({ numberOfReplicas: 2 });
});
afterAll(() => api?.stop());

async function answerTo(token: string, path: string, method: 'GET' | 'HEAD' = 'GET', headers = {}) {
  const url = `/api/v1${path}`;
  return api.send({ method, url, headers: { authorization: `Bearer ${token}`, ...headers } });
}

/** Both lists as the caller gets them, and as they are made of each volume alone. */
async function listsOf(token: string): Promise<{ listed: string[]; alone: string[] }> {
  const [listed, alone]: [string[], string[]] = [[], []];
  for (const path of [api.volumes, '/volumes']) {
    const { body } = await answerTo(token, `${path}?sort=-createdAt`);
    const ids = (JSON.parse(body).items as Json[]).map(({ id }) => id);
    const items = await Promise.all(
      ids.map(async (id) => (await answerTo(token, `${api.volumes}/${id}`)).body),
    );
    listed.push(body);
    alone.push(`{"items":[${items.join()}],"nextCursor":null}`);
  }
  return { listed, alone };
}

const everyone = () => Object.entries(callers);

type Change = { what: string; seenBy: (keyof typeof callers)[]; make: () => Promise<unknown> };
const ofVolume = (change: string) => () => api.owner.query(`${change} = $1`, [volume.id]);

test.each<Change>([
  { what: 'nothing', seenBy: [], make: async () => undefined },
  {
    what: 'a volume',
    seenBy: ['admin', 'viewer'],
    make: ofVolume(`UPDATE volume SET written_bytes = 4096 WHERE id`),
  },
  {
    what: 'what is wanted of a volume',
    seenBy: ['admin', 'viewer'],
    make: () => api.call('PATCH', `${api.volumes}/${volume.id}`, { body: { labels: { team: 'b' } } }),
  },
  {
    what: 'a copy',
    seenBy: ['admin', 'viewer'],
    make: ofVolume(`UPDATE replica SET written_bytes = 4096 WHERE volume_id`),
  },
  {
    what: 'the zone of a node, which a grant does not show',
    seenBy: ['admin', 'viewer'],
    make: () => api.owner.query(`UPDATE node SET zone = 'Zürich' WHERE id = $1`, [nodeId]),
  },
  {
    what: 'a zone that has no name any more',
    seenBy: ['admin', 'viewer'],
    make: () => api.owner.query(`UPDATE node SET zone = '' WHERE id = $1`, [nodeId]),
  },
  {
    what: 'a copy fewer',
    seenBy: ['admin', 'viewer'],
    make: ofVolume(`DELETE FROM replica WHERE volume_id`),
  },
  {
    what: 'a copy fewer of a granted volume',
    seenBy: ['grantee'],
    make: () =>
      api.owner.query(`DELETE FROM replica WHERE id = (SELECT max(r.id::text)::uuid FROM replica r
        JOIN volume v ON v.id = r.volume_id WHERE v.name = 'granted')`),
  },
  {
    what: 'a volume fewer',
    seenBy: ['admin', 'viewer'],
    make: ofVolume(`DELETE FROM volume WHERE id`),
  },
])('after a change of $what each caller sees what is there for it', async ({ seenBy, make }) => {
  const before = new Map<string, string[]>();
  for (const [name, token] of everyone()) before.set(name, (await listsOf(token)).listed);
  await make();
  for (const [name, token] of everyone()) {
    const { listed, alone } = await listsOf(token);
    expect([name, listed]).toEqual([name, alone]);
    const sees = JSON.stringify(listed) !== JSON.stringify(before.get(name));
    expect([name, sees]).toEqual([name, seenBy.some((one) => one === name)]);
  }
});

/** How often volumes' rows were read while the work ran. */
async function readsDuring(work: () => Promise<unknown>): Promise<number> {
  const sent = jest.spyOn(pg.Client.prototype, 'query');
  try {
    await work();
    const texts = sent.mock.calls.map(([asked]: unknown[]) =>
      typeof asked === 'object' && asked !== null && 'text' in asked ? String(asked.text) : '',
    );
    return texts.filter((text) => /FROM volume v WHERE v\.id = ANY/.test(text)).length;
  } finally {
    sent.mockRestore();
  }
}

/** Stops the process of Postgres that the next commit is sent to, before that is sent; gives its id. */
function stopNextCommit(): Promise<number> {
  const send = pg.Client.prototype.query;
  return new Promise((resolve) => {
    jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function (this: pg.Client, ...asked) {
      if (asked[0] === 'COMMIT') {
        jest.restoreAllMocks();
        const processId: number = Reflect.get(this, 'processID');
        process.kill(processId, 'SIGSTOP');
        resolve(processId);
      }
      return Reflect.apply(send, this, asked);
    });
  });
}

test('rows are read once for all who may do the same, and again when a connection has broken', async () => {
  const { admin, viewer } = callers;
  const list = (token: string) => () => answerTo(token, api.volumes);
  await list(admin)();
  await list(viewer)();
  expect(await readsDuring(list(admin))).toBe(0);
  expect(await readsDuring(list(viewer))).toBe(0);
  await api.owner.query(
    `SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE usename = 'holdfast_api' AND datname = current_database()`,
  );
  const untilAnswered = async () => {
    while ((await list(admin)()).statusCode !== 200);
  };
  expect(await readsDuring(untilAnswered)).toBe(1);
});

test('rows are read again too when a connection has broken under the last statement of a list', async () => {
  const { admin } = callers;
  const list = () => answerTo(admin, api.volumes);
  await list();
  expect(await readsDuring(list)).toBe(0);
  const stopped = stopNextCommit();
  // The answer does not wait for the commit.
  await list();
  const processId = await stopped;
  process.kill(processId, 'SIGTERM');
  process.kill(processId, 'SIGCONT');
  const there = () => api.owner.query('SELECT FROM pg_stat_activity WHERE pid = $1', [processId]);
  await eventually('the end of the connection', there, ({ rowCount }) => rowCount === 0);
  expect(await readsDuring(list)).toBe(1);
});

test('what is remembered is answered with the same headers, to HEAD and to GraphQL too', async () => {
  const { admin } = callers;
  await api.createVolume();
  const path = `${api.volumes}?limit=1`;
  const [first, again] = [await answerTo(admin, path), await answerTo(admin, path)];
  const { body, headers } = first;
  expect(headers).toMatchObject({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    link: expect.stringMatching(/rel="next"/),
  });
  for (const name of ['etag', 'content-type', 'content-length', 'link'])
    expect([name, again.headers[name]]).toEqual([name, headers[name]]);
  expect(await answerTo(admin, path, 'GET', { 'if-none-match': headers.etag })).toMatchObject({
    statusCode: 304,
    body: '',
  });
  const head = await answerTo(admin, path, 'HEAD');
  expect([head.statusCode, head.headers['content-length']]).toEqual([200, headers['content-length']]);
  const asked = '{ allVolumes(first: 1) { edges { cursor node { id name replicas { id zone } } } } }';
  const [edge] = (await api.graphql(asked, {}, admin)).body.data.allVolumes.edges;
  const { items, nextCursor } = JSON.parse((await answerTo(admin, '/volumes?limit=1')).body);
  expect(items).toMatchObject([edge.node]);
  expect(edge.cursor).toBe(nextCursor);
});
