/** Requests whose text, numbers or shape nothing of ours would send: refused at the edge, as problem documents. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { openApiDocument } from './openapi-document.js';
import type { TestAgent } from './test-agent.js';
import { textsOfBodies } from './texts-of-bodies.js';

let api: ApiFixture;
let nodeId: string;
let agent: TestAgent;

beforeAll(async () => {
  api = await ApiFixture.start();
  nodeId = await api.node('node-1', 'zone-a');
  agent = await api.agent('node-8');
});
afterAll(() => api?.stop());

const HEARTBEAT = '/agent/heartbeat';
const REFUSED = { status: 422, body: { code: 'request.invalid', errors: [expect.anything()] } };

describe('text that Postgres can not store or a terminal would obey is refused', () => {
  const texts = [
    ['a NUL', 'a\u0000b'],
    ['an escape', '\u001b[31mred'],
    ['a mark that turns the order', 'a\u202eb'],
    ['an escape of one character', '\u009b31mred'],
    ['half a surrogate pair', '"x\\ud800"'],
  ] as const;
  const cluster = () => `/clusters/${api.seed.clusterId}`;
  const places = [
    ['a name', () => ['POST', '/projects'] as const, (text: unknown) => ({ name: text })],
    ["a token's name", () => ['POST', '/tokens'] as const, (text: unknown) => ({ name: text })],
    ['a sign-in', () => ['POST', '/sessions'] as const, (text: unknown) => ({ email: text, password: text })],
    [
      'a list',
      () => ['POST', `${cluster()}/volumes`] as const,
      (text: unknown) => ({ name: 'v', size: GIB, nodeSelector: [text] }),
    ],
    [
      "a node's tags",
      () => ['PATCH', `${cluster()}/nodes/${nodeId}`] as const,
      (text: unknown) => ({ tags: [text] }),
    ],
    [
      "a field's name",
      () => ['POST', '/projects'] as const,
      (text: unknown) => ({ name: 'p', [String(text)]: 1 }),
    ],
    [
      'a heartbeat',
      () => ['POST', HEARTBEAT] as const,
      (text: unknown) => aHeartbeat('node-8', { node: { version: String(text) } }),
    ],
  ] as const;

  test.each(
    places.flatMap(([place, at, body]) => texts.map(([what, text]) => ({ place, what, at, body, text }))),
  )('$what in $place', async ({ at, body, text }) => {
    const [method, path] = at();
    const isEscaped = text.startsWith('"');
    // Half a pair is no text that JavaScript would write: it is put in as an escape.
    const payload = isEscaped
      ? JSON.stringify(body('@@')).replaceAll('"@@"', text)
      : JSON.stringify(body(text));
    const answer = path === HEARTBEAT ? agent.call(path, payload) : api.call(method, path, { payload });
    expect(await answer).toMatchObject(REFUSED);
  });

  test.each([
    ['a filter', `/volumes?filter=${encodeURIComponent('name="\u0000"')}`],
    ['a cursor', '/volumes?cursor=%00'],
    ["a setting's name", '/settings/a%00b'],
  ])('a NUL in %s', async (_what, path) => {
    expect(await api.call('GET', cluster() + path)).toMatchObject(REFUSED);
  });

  test('a NUL in a GraphQL variable', async () => {
    const { status } = await api.graphql(
      'query ($clusterId: ID!) { cluster(clusterId: $clusterId) { id } }',
      {
        clusterId: 'a\u0000',
      },
    );
    expect(status).toBe(422);
  });
});

const BREAKS = ['\n', '\r', '\t', '\u0085', '\u2028', '\u2029'];

describe('a text of more than one line is refused', () => {
  const texts = [...textsOfBodies(openApiDocument())];

  test('the walk finds the texts that users type', () => {
    const found = texts.map(({ where, pointer }) => `${where} ${pointer}`);
    expect(found.length).toBeGreaterThan(100);
    for (const needed of [
      'POST /projects /name',
      'POST /tokens /name',
      'POST /invitations /email',
      'POST /clusters/{clusterId}/silences /comment',
      'POST /clusters/{clusterId}/nodes/{nodeId}/maintenance /reason',
    ])
      expect(found).toContain(needed);
  });

  test('in every text of every request body, by the name of its field', async () => {
    const taken: string[] = [];
    for (const [at, { where, method, path, pointer, body }] of texts.entries()) {
      const answer = await api.call(method, path, { body: body(`a${BREAKS[at % BREAKS.length]}b`) });
      const isNamed = JSON.stringify(answer.body.errors ?? []).includes(`"pointer":"${pointer}"`);
      if (answer.status !== 422 || !isNamed) taken.push(`${where} ${pointer}: ${answer.status}`);
    }
    expect(taken).toEqual([]);
  });

  test.each(BREAKS)('in a GraphQL variable and a GraphQL literal, by %j', async (end) => {
    const mutation = (input: string, declared = '') =>
      `mutation ${declared} { createProject(input: { name: ${input} }) { id } }`;
    const byVariable = await api.graphql(mutation('$name', '($name: String!)'), { name: `a${end}b` });
    const byLiteral = await api.graphql(mutation(JSON.stringify(`a${end}b`)));
    expect([byVariable.status, byLiteral.status]).toEqual([422, 422]);
    expect(byLiteral.body.errors[0].extensions.code).toBe('request.invalid');
  });

  test.each(['\\u0000', '\\u001b[31m', '\\u202e'])('as is one with %s in a GraphQL literal', async (text) => {
    const query = `query ($clusterId: ID!) { volumes(clusterId: $clusterId, filter: "name=${text}") { edges { cursor } } }`;
    expect((await api.graphql(query)).status).toBe(422);
  });

  test('but not a GraphQL document that is written over several lines', async () => {
    const query = 'query ($clusterId: ID!) {\n\tcluster(clusterId: $clusterId) {\r\n id } }';
    expect((await api.graphql(query)).status).toBe(200);
  });
});

describe('a cursor of the right list is refused that was edited', () => {
  test.each([
    ['which then holds NUL', 'name', ['a\u0000', randomUUID()]],
    ['which then holds no id', 'name', ['a', 'no id']],
    ['which then holds no number', 'size', ['many', randomUUID()]],
    ['which then holds no time', '-createdAt', ['2026-99-99 00:00:00+00', randomUUID()]],
  ])('a page is not read on from it, %s', async (_what, sort, after) => {
    const list = `/clusters/${api.seed.clusterId}/volumes?limit=1&sort=${sort}`;
    for (let made = 0; made < 2; made += 1) await api.createVolume();
    const { nextCursor } = (await api.call('GET', list)).body;
    const own = JSON.parse(Buffer.from(String(nextCursor), 'base64url').toString());
    const edited = Buffer.from(JSON.stringify({ ...own, after })).toString('base64url');
    expect(await api.call('GET', `${list}&cursor=${edited}`)).toMatchObject({
      status: 422,
      body: { code: 'request.invalid', errors: [{ pointer: 'cursor' }] },
    });
  });
});

test.each([
  ['lists', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
  ['objects', `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`],
])('JSON of %s five thousand deep is refused', async (_what, payload) => {
  for (const [path, token] of [
    ['/sessions', null],
    ['/projects', api.seed.token],
  ] as const) {
    expect(await api.call('POST', path, { payload, token })).toMatchObject({ status: 422 });
  }
  expect(await agent.call(HEARTBEAT, payload)).toMatchObject({ status: 422 });
});

test.each(['0000-01-01T00:00:00Z', '+275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z'])(
  'a time that Postgres would not read (%s) is refused in a filter',
  async (at) => {
    const path = `/clusters/${api.seed.clusterId}/events?filter=${encodeURIComponent(`at>"${at}"`)}`;
    expect(await api.call('GET', path)).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  },
);

describe('a body of very many values is refused before each is checked', () => {
  const many = (count: number) => `{"nodeSelector":[${Array.from({ length: count }, () => 0).join()}]}`;
  const detail = expect.stringMatching(/^has more than [\d]+ values$/);

  test('of a user', async () => {
    const answer = await api.call('POST', api.volumes, { payload: many(50_000) });
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '', detail }] } });
  });

  test('of an agent, which may send more', async () => {
    const answer = await agent.call(HEARTBEAT, many(500_000));
    expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '', detail }] } });
  });
});

test('the body of a heartbeat is not read before its agent has shown a certificate', async () => {
  const noJson = `{${' '.repeat(2 ** 20)}`;
  expect(await api.call('POST', HEARTBEAT, { payload: noJson })).toMatchObject({
    status: 403,
    body: { code: 'auth.forbidden' },
  });
  expect(await agent.call(HEARTBEAT, noJson)).toMatchObject({ status: 400 });
});

test('a request to join is as small as those of users', async () => {
  const request = 'x'.repeat(2 ** 20);
  expect(await api.call('POST', '/agent/identity', { body: { request } })).toMatchObject({ status: 413 });
});

describe('a heartbeat is refused', () => {
  const disk = () => aDiskReport(asId<DiskId>(randomUUID()));
  const beat = (part: Parameters<typeof aHeartbeat>[1]) => agent.beat(aHeartbeat('node-8', part));

  test('that names a disk twice', async () => {
    const twice = disk();
    expect(await beat({ disks: [twice, { ...twice, name: 'other' }] })).toMatchObject({ status: 422 });
  });

  test('with a disk larger than any, whose sums no answer could carry', async () => {
    const bytes = Number.MAX_SAFE_INTEGER;
    const huge = { ...disk(), maximumBytes: bytes, availableBytes: bytes };
    expect(await beat({ disks: [huge] })).toMatchObject({ status: 422 });
    expect((await api.call('GET', `/clusters/${api.seed.clusterId}/nodes`)).status).toBe(200);
  });

  test.each([
    ['a path', 'http://127.0.0.1:1/api'],
    ['a user', `http://user:${'word'}@127.0.0.1:1`],
    ['a query', 'http://127.0.0.1:1?x=1'],
    ['another scheme', 'file:///etc/passwd'],
    ['no host', 'http://'],
  ])('whose address has %s', async (_what, controlUrl) => {
    expect(await beat({ node: { controlUrl } })).toMatchObject({ status: 422 });
  });

  test.each(['a b', 'host;rm', '$(id)', 'host/path', 'user@host', '-flag'])(
    'whose NBD host would not stand in a URI as itself: %s',
    async (nbdHost) => {
      expect(await beat({ node: { nbdHost } })).toMatchObject({ status: 422 });
    },
  );

  test.each(['10.0.0.1', 'fd00::1', 'node-1.storage.example'])(
    'but not for the form of the NBD host %s',
    async (nbdHost) => {
      // It is another machine's, which is another matter.
      expect(await beat({ node: { nbdHost } })).toMatchObject({ body: { code: 'node.address_refused' } });
    },
  );
});

describe('what is no request at all is answered with a problem document', () => {
  /** All that comes back over a connection on which this was sent. */
  async function answerTo(sent: string): Promise<{ status: number; head: string; body: string }> {
    const socket = net.connect(await api.listen(), '127.0.0.1');
    await once(socket, 'connect');
    socket.write(sent);
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
    return { status: Number(head.split(' ')[1]), head, body };
  }

  test.each([
    ['a method that HTTP does not have', 'FOO /api/v1/clusters HTTP/1.1\r\n\r\n', 400, 'request.invalid'],
    ['bytes that are no text', '\u0000\u0001\r\n\r\n', 400, 'request.invalid'],
    [
      'a length and chunks at once',
      'POST /api/v1/projects HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'request.invalid',
    ],
    [
      'an address of 20,000 characters',
      `GET /api/v1/volumes?filter=${'a'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`,
      431,
      'request.too_large',
    ],
    [
      'headers of 20,000 characters',
      `GET /livez HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(20_000)}\r\n\r\n`,
      431,
      'request.too_large',
    ],
  ])('such as that of %s', async (_what, sent, status, code) => {
    const answer = await answerTo(sent);
    expect(answer).toMatchObject({ status, head: expect.stringContaining('application/problem+json') });
    expect(JSON.parse(answer.body)).toMatchObject({ status, code, requestId: expect.any(String) });
  });
});

describe('an address written in another way is the same address', () => {
  test.each(['http://elsewhere.example/api/v1/clusters', '/%61pi/v1/clusters', '/api/v1/%63lusters'])(
    '%s keeps its answer from caches, and has its tag',
    async (url) => {
      const socket = net.connect(await api.listen(), '127.0.0.1');
      const head = [`GET ${url} HTTP/1.1`, 'Host: a', `Authorization: Bearer ${api.seed.token}`];
      socket.write(`${[...head, 'Connection: close'].join('\r\n')}\r\n\r\n`);
      const answer = await text(socket);
      expect(answer).toMatch(/^HTTP\/1.1 200 /);
      expect(answer).toMatch(/\r\ncache-control: no-store\r\n/i);
      expect(answer).toMatch(/\r\netag: /i);
    },
  );

  test.each(['/graphql?query={__typename}', `/api/v1/${'a'.repeat(300)}`])(
    'the answer of %s is kept from caches too, and not guessed at',
    async (url) => {
      const answer = await api.send({
        url,
        headers: { authorization: `Bearer ${api.seed.token}` },
      });
      expect(answer.headers).toMatchObject({
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'x-request-id': expect.any(String),
      });
    },
  );
});

describe('a method that an address does not have', () => {
  test.each([
    ['PUT', '/api/v1/projects', 'GET, HEAD, POST'],
    ['POST', `/api/v1/projects/${randomUUID()}`, 'DELETE, GET, HEAD, PATCH'],
    ['OPTIONS', '/api/v1/clusters', 'GET, HEAD, POST'],
    ['DELETE', '/livez', 'GET, HEAD'],
  ])('%s %s is answered with those that it has', async (method, url, allow) => {
    const answer = await api.send({ method, url });
    expect([answer.statusCode, answer.headers.allow, JSON.parse(answer.body).code]).toEqual([
      405,
      allow,
      'request.method_not_allowed',
    ]);
  });

  test('while an unknown address is not there by any', async () => {
    const answer = await api.send({ method: 'PUT', url: '/api/v1/nothing/here' });
    expect([answer.statusCode, answer.headers.allow]).toEqual([404, undefined]);
  });
});

describe('a body is JSON', () => {
  test.each(['application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data', 'text/json'])(
    'and %s is refused',
    async (type) => {
      const answer = await api.call('POST', '/projects', {
        payload: type.includes('form-url') ? 'name=by-form' : '{"name":"by-text"}',
        headers: { 'content-type': type },
      });
      expect(answer).toMatchObject({ status: 415, body: { code: 'request.invalid' } });
    },
  );
});

test('a stream of which only the head is asked holds nothing open', async () => {
  for (const path of ['/events/stream', `/clusters/${api.seed.clusterId}/events/stream`]) {
    const answer = await fetch(`http://127.0.0.1:${await api.listen()}/api/v1${path}`, {
      method: 'HEAD',
      headers: { authorization: `Bearer ${api.seed.token}` },
      signal: AbortSignal.timeout(120_000),
    });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
  }
});
