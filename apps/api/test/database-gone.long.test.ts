/**
 * What users are answered while Postgres stands still, is gone, or is behind a network that loses all: a 503 within a bound, and
 * the truth about a change of which nothing is known. Each is made for real.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { GIB } from '@holdfast/core/model/bytes.js';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@holdfast/database/embedded/postgres.js';
import { BlackholeProxy } from '@holdfast/testkit/blackhole-proxy.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { signalPostgres } from '@holdfast/testkit/still-postgres.js';
import { startTestServer, TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Answer } from './api-fixture.js';
import { OwnApi } from './own-api.js';

/** Without a bound a request would hang for as long as Postgres is silent: twice this. On a quiet machine an answer takes 10 s at most. */
const ANSWER_MS_MAX = 120_000;
const HUNG_MS = 240_000;

type Told = { what: string; status: number; code: unknown; retryAfter: unknown; isInTime: boolean };

let api: OwnApi;
let postgres: Pick<EmbeddedPostgres, 'pid' | 'port' | 'directory' | 'exited'>;
let restarted: EmbeddedPostgres | undefined;

beforeAll(async () => {
  const database = await startTestServer();
  api = await OwnApi.on(database);
  api.owner.on('error', () => undefined);
  postgres = database.server;
});
afterEach(async () => {
  await eventually('the API serves', list, ({ status }) => status === 200);
});
afterAll(async () => {
  await api?.stop();
  await restarted?.stop();
});

test('while Postgres stands still each request ends within the bound, and is served again once it goes on', async () => {
  const project = `/projects/${api.seed.projectId}`;
  await Promise.all([...times(30, () => list()), create('before')]);
  signalPostgres(postgres.pid, 'SIGSTOP');
  try {
    // First on connections that are there, then on new ones that are never answered.
    for (const round of ['first', 'second']) {
      const told = await Promise.all([
        ...times(40, () => within('a read', list())),
        ...times(150, (n) => within('a creation', create(`${round}-${n}`))),
        within('a change of a plain row', call('PATCH', project, { name: 'other' })),
        within('a keyed creation', create(`keyed-${round}`, `still-${round}`)),
        within('a sign-in', signIn()),
        within('a question about an operation', call('POST', `${api.volumes}/${api.seed.clusterId}/explain`)),
      ]);
      expect(told.filter((one) => !isRefusedInTime(one))).toEqual([]);
      const graphql = await within(
        'GraphQL',
        api.graphql('query Q($clusterId: ID!) { cluster(id: $clusterId) { id } }'),
      );
      expect(graphql).toMatchObject({ isInTime: true });
    }
  } finally {
    signalPostgres(postgres.pid, 'SIGCONT');
  }
  await expectBack(() => list(), 200);
  await expectBack(() => create('after'), 201);
});

test('a keyed creation that had no answer is made once by its repeat, as soon as Postgres goes on', async () => {
  signalPostgres(postgres.pid, 'SIGSTOP');
  const first = await within('a keyed creation', create('kept', 'kept')).finally(() =>
    signalPostgres(postgres.pid, 'SIGCONT'),
  );
  expect(first).toMatchObject({ status: 503, isInTime: true });
  await expectBack(() => create('kept', 'kept'), 201);
  expect(await volumesNamed('kept')).toHaveLength(1);
});

test('a change that has no answer is not made where its commit was not asked for, and else said to be unsure', async () => {
  const proxy = await BlackholeProxy.to(postgres.port);
  const beside = await besideThrough(proxy);
  try {
    // Statements are sent as texts once for a connection.
    proxy.cutBehind('INSERT INTO volume');
    const lost = await within('a creation', create('lost', 'lost', beside));
    expect(lost).toMatchObject({ status: 503, code: 'store.unavailable', isInTime: true });
    proxy.mend();
    await expectBack(() => list(beside), 200);
    expect(await volumesNamed('lost')).toEqual([]);

    proxy.cutBehind('INSERT INTO volume', 'COMMIT');
    const unsure = await timed(create('unsure', undefined, beside));
    expect(unsure.isInTime).toBe(true);
    expect(unsure.answer.body).toMatchObject({
      code: 'store.unavailable',
      detail: expect.stringContaining('may have been made'),
      cures: [expect.stringContaining('Idempotency-Key'), expect.stringContaining('read')],
    });
    proxy.mend();
  } finally {
    await beside.app.nest.close();
    await proxy.close();
  }
  expect(await volumesNamed('unsure')).toHaveLength(1);
});

test('a repeat of what was made, and whose answer could not be kept, gets the same volume from another process', async () => {
  const proxy = await BlackholeProxy.to(postgres.port);
  const beside = await besideThrough(proxy);
  try {
    proxy.cutBehind('UPDATE idempotency_key SET status');
    const unsure = await timed(create('made', 'made', beside));
    expect(unsure.answer.body).toMatchObject({ detail: expect.stringContaining('may have been made') });
    const [made] = await volumesNamed('made');
    proxy.mend();
    const answer = await expectBack(() => create('made', 'made'), 201);
    expect(answer.body.id).toBe(made);
    expect(await volumesNamed('made')).toHaveLength(1);
  } finally {
    await beside.app.nest.close();
    await proxy.close();
  }
});

test('a statement of a plain row that is never answered ends its request', async () => {
  const proxy = await BlackholeProxy.to(postgres.port);
  const beside = await besideThrough(proxy);
  const rename = () => call('PATCH', `/projects/${api.seed.projectId}`, { name: 'renamed' }, beside);
  try {
    await rename();
    proxy.cutBehind('"public"."project"');
    expect(isRefusedInTime(await within('a rename', rename()))).toBe(true);
    proxy.mend();
    await expectBack(rename, 200);
  } finally {
    await beside.app.nest.close();
    await proxy.close();
  }
});

test('while Postgres is killed requests are refused at once, and served once it is there again', async () => {
  process.kill(postgres.pid, 'SIGKILL');
  const told = await Promise.all([
    ...times(10, () => within('a read', list())),
    ...times(80, (n) => within('a creation', create(`killed-${n}`))),
    within('a sign-in', signIn()),
  ]);
  expect(told.filter((one) => !isRefusedInTime(one))).toEqual([]);
  await postgres.exited;
  expect(isRefusedInTime(await within('a read', list()))).toBe(true);
  const { directory, port } = postgres;
  restarted = await startEmbeddedPostgres({ directory, port });
  postgres = restarted;
  await expectBack(() => list(), 200);
  await expectBack(() => create('restarted'), 201);
});

function times<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

function call(method: string, path: string, body?: unknown, at = api): Promise<Answer> {
  return at.call(method, path, body === undefined ? {} : { body });
}

function list(at = api): Promise<Answer> {
  return call('GET', `${at.volumes}?limit=5`, undefined, at);
}

function create(name: string, key?: string, at = api): Promise<Answer> {
  const headers = key === undefined ? {} : { headers: { 'idempotency-key': key } };
  return at.call('POST', at.volumes, { body: { name, size: GIB }, ...headers });
}

function signIn(): Promise<Answer> {
  const body = { email: 'admin@holdfast.local', password: TEST_SECRETS.password };
  return api.call('POST', '/sessions', { token: null, body });
}

async function volumesNamed(name: string): Promise<string[]> {
  const { rows } = await api.owner.query<{ id: string }>('SELECT id FROM volume WHERE name = $1', [name]);
  return rows.map(({ id }) => id);
}

function besideThrough(proxy: BlackholeProxy): Promise<OwnApi> {
  const { apiUrl, systemUrl } = api.database;
  return OwnApi.beside(api, {
    databaseUrl: proxy.onWayTo(apiUrl),
    databaseSystemUrl: proxy.onWayTo(systemUrl),
  });
}

async function timed(asked: Promise<Answer>): Promise<{ answer: Answer; isInTime: boolean }> {
  const begunAtMs = performance.now();
  const hung = sleep(HUNG_MS, undefined, { ref: false }).then(
    (): Answer => ({ status: 0, headers: {}, body: {} }),
  );
  const answer = await Promise.race([asked, hung]);
  return { answer, isInTime: performance.now() - begunAtMs < ANSWER_MS_MAX };
}

async function within(what: string, asked: Promise<Answer>): Promise<Told> {
  const { answer, isInTime } = await timed(asked);
  const { status, headers, body } = answer;
  return { what, status, code: body.code, retryAfter: headers['retry-after'], isInTime };
}

function isRefusedInTime({ status, code, retryAfter, isInTime }: Told): boolean {
  return status === 503 && code === 'store.unavailable' && Number(retryAfter) > 0 && isInTime;
}

/** Asks again and again, and returns the first answer of this status. */
function expectBack(ask: () => Promise<Answer>, status: number): Promise<Answer> {
  return eventually('the API serves again', ask, (answer) => answer.status === status);
}
