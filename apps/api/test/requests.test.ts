import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

const PROBLEM = {
  type: expect.stringMatching(/^urn:holdfast:problem:/),
  title: expect.any(String),
  status: expect.any(Number),
  detail: expect.any(String),
  code: expect.any(String),
  requestId: expect.any(String),
  errors: expect.any(Array),
};

describe('bad input to create a volume', () => {
  const good = { name: 'bad-input', size: GIB };

  test.each<[string, unknown, string]>([
    ['size 0', { ...good, size: 0 }, '/size'],
    ['a negative size', { ...good, size: -4096 }, '/size'],
    ['a size that is no multiple of 4096', { ...good, size: 4097 }, '/size'],
    ['a size of 2^53', { ...good, size: 2 ** 53 }, '/size'],
    ['a size that is a text', { ...good, size: '1Gi' }, '/size'],
    ['no size', { name: 'x' }, '/size'],
    ['no name', { size: GIB }, '/name'],
    ['a name with a slash', { ...good, name: 'a/b' }, '/name'],
    ['0 replicas', { ...good, numberOfReplicas: 0 }, '/numberOfReplicas'],
    ['21 replicas', { ...good, numberOfReplicas: 21 }, '/numberOfReplicas'],
    ['an unknown field', { ...good, sizee: 1 }, '/sizee'],
    ['an unknown field with a slash', { ...good, 'a/b': 1 }, '/a~1b'],
    ['an unknown project', { ...good, projectId: '01a1fd5b-0000-7000-8000-000000000000' }, '/projectId'],
    ['a body that is a list', [], ''],
  ])('%s is named', async (_name, body, pointer) => {
    const answer = await api.call('POST', api.volumes, { body });
    expect(answer).toMatchObject({ status: 422, body: { ...PROBLEM, code: 'request.invalid' } });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.body.errors).toContainEqual({ pointer, detail: expect.any(String) });
    const { rows } = await api.owner.query('SELECT count(*)::int AS volumes FROM volume');
    expect(rows[0]).toEqual({ volumes: 0 });
  });
});

describe('every refusal is a problem document', () => {
  test.each<[string, number, string, () => ReturnType<ApiFixture['call']>]>([
    ['an unknown route', 404, 'request.not_found', () => api.call('GET', '/nothing/here')],
    ['an unknown method', 405, 'request.method_not_allowed', () => api.call('PUT', api.volumes)],
    ['no token', 401, 'auth.missing', () => api.call('GET', '/clusters', { token: null })],
    ['a wrong token', 401, 'auth.invalid', () => api.call('GET', '/clusters', { token: 'hft_wrong' })],
    ['a huge token', 401, 'auth.invalid', () => api.call('GET', '/clusters', { token: 'x'.repeat(10_000) })],
    ['a join token', 401, 'auth.invalid', () => api.call('GET', '/clusters', { token: api.seed.agentToken })],
    ["a user's token for agents", 403, 'auth.forbidden', () => api.call('POST', '/agent/heartbeat')],
    [
      'a body that is no JSON',
      400,
      'request.invalid',
      () => api.call('POST', api.volumes, { payload: '{bad' }),
    ],
    [
      'a body of 10 MB',
      413,
      'request.too_large',
      () => api.call('POST', api.volumes, { payload: Buffer.alloc(10 * 1024 * 1024, 0x20) }),
    ],
    ['a volume id that is none', 404, 'request.not_found', () => api.call('GET', `${api.volumes}/abc`)],
    [
      'an unknown volume',
      404,
      'volume.not_found',
      () => api.call('GET', `${api.volumes}/01a1fd5b-0000-7000-8000-000000000000`),
    ],
    [
      'an unknown cluster',
      404,
      'cluster.not_found',
      () => api.call('GET', '/clusters/01a1fd5b-0000-7000-8000-000000000000/nodes'),
    ],
    [
      'an unknown filter field',
      422,
      'request.invalid',
      () => api.call('GET', `${api.volumes}?filter=nope=1`),
    ],
    [
      'a filter that ends early',
      422,
      'request.invalid',
      () => api.call('GET', `${api.volumes}?filter=name=`),
    ],
    ['an unknown sort field', 422, 'request.invalid', () => api.call('GET', `${api.volumes}?sort=nope`)],
    ['a made-up cursor', 422, 'request.invalid', () => api.call('GET', `${api.volumes}?cursor=abc`)],
    ['a limit of 0', 422, 'request.invalid', () => api.call('GET', `${api.volumes}?limit=0`)],
    ['an unknown query parameter', 422, 'request.invalid', () => api.call('GET', `${api.volumes}?nope=1`)],
    [
      'an unknown setting',
      404,
      'setting.not_found',
      () => api.call('PUT', `/clusters/${api.seed.clusterId}/settings/nope`, { body: { value: 1 } }),
    ],
    [
      'a setting out of bounds',
      422,
      'setting.invalid',
      () => api.call('PUT', `/clusters/${api.seed.clusterId}/settings/balance-alpha`, { body: { value: 2 } }),
    ],
    [
      'a setting that contradicts another one',
      422,
      'setting.invalid',
      () =>
        api.call('PUT', `/clusters/${api.seed.clusterId}/settings/disable-snapshot-purge`, {
          body: { value: true },
        }),
    ],
    [
      'a wrong password',
      401,
      'auth.invalid',
      () => api.call('POST', '/sessions', { token: null, body: { email: api.seed.email, password: 'no' } }),
    ],
    [
      'an unknown person',
      401,
      'auth.invalid',
      () => api.call('POST', '/sessions', { token: null, body: { email: 'a@b.c', password: 'no' } }),
    ],
  ])('%s is answered with %i and the code %s', async (_name, status, code, ask) => {
    const answer = await ask();
    expect(answer).toMatchObject({ status, body: { ...PROBLEM, status, code } });
    expect(answer.headers['content-type']).toContain('application/problem+json');
    expect(answer.headers['x-request-id']).toBe(answer.body.requestId);
  });
});

describe('request ids', () => {
  test('one that was given comes back, another kind of text does not', async () => {
    const given = await api.call('GET', '/clusters', { headers: { 'x-request-id': 'my-id.1' } });
    expect(given.headers['x-request-id']).toBe('my-id.1');
    const forged = await api.call('GET', '/clusters', { headers: { 'x-request-id': 'a b\tc' } });
    expect(forged.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
  });
});

describe('lists', () => {
  test('pages follow each other in the wanted order, and a cursor belongs to its list', async () => {
    const names = ['list-a', 'list-b', 'list-c', 'list-d', 'list-e'];
    for (const [index, name] of names.entries()) await api.createVolume({ name, size: (index + 1) * GIB });
    const seen: unknown[] = [];
    let cursor: unknown = '';
    const query = 'limit=2&sort=-size&filter=size>=1Gi AND name!=list-c';
    for (let page = 0; page < 10 && cursor !== null; page += 1) {
      const { body } = await api.call(
        'GET',
        `${api.volumes}?${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      seen.push(...(body.items ?? []).map(({ name }) => name));
      cursor = body.nextCursor;
    }
    expect(seen.filter((name) => String(name).startsWith('list-'))).toEqual([
      'list-e',
      'list-d',
      'list-b',
      'list-a',
    ]);
    const first = await api.call('GET', `${api.volumes}?limit=1`);
    const other = await api.call('GET', `${api.volumes}?limit=1&sort=-name&cursor=${first.body.nextCursor}`);
    expect(other).toMatchObject({ status: 422, body: { errors: [{ pointer: 'cursor' }] } });
  });

  test('lead by a link from each page to the next, and from the last to none', async () => {
    for (let at = 0; at < 3; at += 1) await api.call('POST', '/tokens', { body: { name: `link-${at}` } });
    for (const first of [
      '/tokens?limit=1&filter=name=link-*&sort=-name',
      `${api.volumes}?limit=1&sort=-name`,
    ]) {
      let [next, pages, cursor]: [string | undefined, number, unknown] = [first, 0, ''];
      while (next !== undefined && pages < 20) {
        const { status, headers, body } = await api.call('GET', next);
        expect(status).toBe(200);
        cursor = body.nextCursor;
        pages += 1;
        next = /^<\/api\/v1(.+)>; rel="next"$/.exec(String(headers.link))?.[1];
      }
      expect([first, pages >= 3, cursor]).toEqual([first, true, null]);
    }
  });

  test.each([
    ['state=creating', true],
    ['state=attached', false],
    ['name="list-a"', true],
    ['size>2Ti', false],
    ['createdAt>2020-01-01T00:00:00Z', true],
    ['numberOfReplicas<=3 and size>0', true],
    ['numberOfReplicas<=2 and size>0', false],
    ["name='); DROP TABLE volume; --", false],
    ['name=list-*', true],
    ['name=l%*', false],
    ['name!=* OR state=attached', false],
    ['name in (nope, list-a)', true],
    ['(state=attached OR size>2Ti) AND name=list-a', false],
    ['state=attached OR size>2Ti AND state=creating OR name=list-a', true],
  ])('the filter %s finds volumes (%p), or is refused', async (filter, finds) => {
    const { status, body } = await api.call('GET', `${api.volumes}?filter=${encodeURIComponent(filter)}`);
    if (status === 200) expect((body.items ?? []).length > 0).toBe(finds);
    else expect(body).toMatchObject({ code: 'request.invalid' });
  });
});

describe('lists by several fields', () => {
  const pagesOf = async (path: string, query: string): Promise<string[]> => {
    const names: string[] = [];
    for (let cursor = ''; ; ) {
      const { body } = await api.call('GET', `${path}?limit=2&${query}${cursor}`);
      names.push(...(body.items ?? []).map(({ name }) => String(name)));
      if (body.nextCursor === null || names.length > 20) return names;
      cursor = `&cursor=${body.nextCursor}`;
    }
  };
  beforeAll(async () => {
    for (const [name, size] of [
      ['a', 2],
      ['b', 1],
      ['c', 2],
      ['d', 1],
      ['e', 2],
    ] as const)
      await api.createVolume({ name: `by-${name}`, size: size * GIB });
  });

  test.each([
    ['size,name', 'bdace'],
    ['-size,-name', 'ecadb'],
    ['-size,name', 'acebd'],
    ['size,-name', 'dbeca'],
    ['dataEngine,-size,name', 'acebd'],
  ])('sort=%s: pages follow each other without a gap', async (sort, want) => {
    const names = await pagesOf(api.volumes, `filter=name=by-*&sort=${sort}`);
    expect(names).toEqual([...want].map((name) => `by-${name}`));
  });

  test('volumes of all clusters are one list', async () => {
    const { body: other } = await api.call('POST', '/clusters', { body: { name: 'elsewhere' } });
    const elsewhere = `/clusters/${other.id}/volumes`;
    await api.call('POST', elsewhere, { body: { name: 'by-f', size: GIB } });
    expect(await pagesOf('/volumes', 'filter=name=by-*&sort=-name')).toEqual(
      ['f', 'e', 'd', 'c', 'b', 'a'].map((name) => `by-${name}`),
    );
    expect(await pagesOf('/volumes', `filter=clusterId=${other.id}`)).toEqual(['by-f']);
  });
});

describe('sessions and tokens', () => {
  test('signing in gives a token and a cookie; signing out ends both', async () => {
    const signedIn = await api.call('POST', '/sessions', {
      token: null,
      body: { email: api.seed.email.toUpperCase(), password: api.seed.password },
    });
    expect(signedIn).toMatchObject({ status: 201, body: { role: 'owner', token: expect.any(String) } });
    const cookie = String(signedIn.headers['set-cookie']);
    expect(cookie).toMatch(/^holdfast_session=[^;]+;.*HttpOnly/);
    const headers = { cookie: cookie.split(';')[0] ?? '', 'sec-fetch-site': 'same-origin' };
    const whoAmI = () => api.call('GET', '/sessions/current', { token: null, headers });
    expect(await whoAmI()).toMatchObject({ status: 200, body: { email: api.seed.email, role: 'owner' } });

    const crossSite = { ...headers, 'sec-fetch-site': 'cross-site' };
    expect(await api.call('DELETE', '/sessions', { token: null, headers: crossSite })).toMatchObject({
      status: 403,
    });
    expect(await api.call('DELETE', '/sessions', { token: null, headers })).toMatchObject({ status: 204 });
    expect(await whoAmI()).toMatchObject({ status: 401 });
  });

  test('a token works until it is revoked, expires or its owner is no member any more', async () => {
    const made = await api.call('POST', '/tokens', { body: { name: 'ci', role: 'viewer' } });
    expect(made).toMatchObject({
      status: 201,
      body: { role: 'viewer', token: expect.stringMatching(/^hft_/) },
    });
    const token = String(made.body.token);
    const write = () => api.call('POST', api.volumes, { token, body: { name: 'nope', size: GIB } });
    expect(await api.call('GET', '/clusters', { token })).toMatchObject({ status: 200 });
    expect(await write()).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('operator') },
    });
    const listed = await api.call('GET', '/tokens');
    expect(JSON.stringify(listed.body)).not.toContain(token);
    expect(await api.call('DELETE', `/tokens/${made.body.id}`)).toMatchObject({ status: 204 });
    expect(await api.call('GET', '/clusters', { token })).toMatchObject({ status: 401 });

    const dated = await api.call('POST', '/tokens', {
      body: { name: 'old', expiresAt: new Date(Date.now() + 3_600_000).toISOString() },
    });
    const datedToken = String(dated.body.token);
    expect(await api.call('GET', '/clusters', { token: datedToken })).toMatchObject({ status: 200 });
    await api.owner.query(`UPDATE token SET expires_at = now() - interval '1 second' WHERE id = $1`, [
      dated.body.id,
    ]);
    expect(await api.call('GET', '/clusters', { token: datedToken })).toMatchObject({ status: 401 });

    const member = await api.tokenOfRole('admin');
    expect(await api.call('GET', '/clusters', { token: member })).toMatchObject({ status: 200 });
    await api.owner.query(`DELETE FROM membership WHERE role = 'admin'`);
    expect(await api.call('GET', '/clusters', { token: member })).toMatchObject({ status: 401 });
  });

  test('a token that would do more than its maker, or that has expired already, is refused', async () => {
    const viewer = await api.call('POST', '/tokens', { body: { name: 'weak', role: 'viewer' } });
    const token = String(viewer.body.token);
    const stronger = await api.call('POST', '/tokens', { body: { name: 'strong', role: 'owner' }, token });
    expect(stronger).toMatchObject({ status: 403, body: { code: 'auth.forbidden' } });
    const late = await api.call('POST', '/tokens', {
      body: { name: 'late', expiresAt: '2020-01-01T00:00:00Z' },
    });
    expect(late).toMatchObject({ status: 422, body: { errors: [{ pointer: '/expiresAt' }] } });
  });
});

describe('settings', () => {
  test('are set, listed with definition and default, and go back to the default', async () => {
    const path = `/clusters/${api.seed.clusterId}/settings/replica-replenishment-wait-interval`;
    expect(await api.call('PUT', path, { body: { value: '0' } })).toMatchObject({
      status: 200,
      body: { value: 0, default: 600, isDefault: false, definition: { type: 'integer', unit: 's' } },
    });
    expect(await api.call('GET', path)).toMatchObject({ body: { value: 0 } });
    const limit = `/clusters/${api.seed.clusterId}/settings/concurrent-rebuild-per-cluster-limit`;
    expect(await api.call('PUT', limit, { body: { value: 'unlimited' } })).toMatchObject({
      body: { value: 'unlimited', default: 100, definition: { mayBeUnlimited: true } },
    });
    await api.call('DELETE', limit);
    expect(await api.call('DELETE', path)).toMatchObject({
      status: 200,
      body: { value: 600, isDefault: true },
    });
  });
});
