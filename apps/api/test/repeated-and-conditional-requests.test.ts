/** Requests that are repeated with an Idempotency-Key, and those that are about a known state, with If-Match or If-None-Match. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

describe('Idempotency-Key', () => {
  const create = (key: string, body: unknown) =>
    api.call('POST', api.volumes, { body, headers: { 'idempotency-key': key } });

  test('a repeat gets the first answer and makes nothing', async () => {
    const body = { name: 'once', size: GIB };
    const first = await create('key-1', body);
    const again = await create('key-1', body);
    expect(first.status).toBe(201);
    expect(again).toMatchObject({
      status: 201,
      body: first.body,
      headers: { 'idempotency-replayed': 'true' },
    });
  });

  test('two at once make one, and the other is told to wait or gets its answer', async () => {
    const body = { name: 'at-once', size: GIB };
    const answers = await Promise.all([create('key-2', body), create('key-2', body)]);
    const statuses = answers.map(({ status }) => status).sort();
    expect([
      [201, 201],
      [201, 409],
    ]).toContainEqual(statuses);
    const { rows } = await api.owner.query(`SELECT count(*)::int AS n FROM volume WHERE name = 'at-once'`);
    expect(rows[0]).toEqual({ n: 1 });
  });

  test('the same key for another request is refused', async () => {
    await create('key-3', { name: 'three', size: GIB });
    const other = await create('key-3', { name: 'four', size: GIB });
    expect(other).toMatchObject({ status: 422, body: { code: 'idempotency.key_reused' } });
  });

  test('a refused request leaves its key free', async () => {
    expect(await create('key-5', { name: 'five', size: 0 })).toMatchObject({ status: 422 });
    expect(await create('key-5', { name: 'five', size: GIB })).toMatchObject({ status: 201 });
  });

  test.each([
    ['after its commit', false],
    ['before its commit', true],
  ])(
    'a repeat of a request whose process died %s makes one volume, with the first id',
    async (when, isGone) => {
      const body = { name: `died-${isGone}`, size: GIB };
      const first = await create(when.replaceAll(' ', '-'), body);
      // As if no answer had been stored, and the lock's time had passed.
      await api.owner.query(
        `UPDATE idempotency_key SET status = NULL, body = NULL, locked_until = now() - interval '1 s' WHERE key = $1`,
        [when.replaceAll(' ', '-')],
      );
      if (isGone) {
        await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [first.body.id]);
        await api.owner.query('DELETE FROM volume WHERE id = $1', [first.body.id]);
      }
      const again = await create(when.replaceAll(' ', '-'), body);
      expect(again).toMatchObject({ status: 201, body: { id: first.body.id } });
    },
  );

  test('a repeat is refused as long as the process lives that has begun it, and carried out once it is gone', async () => {
    const other = new pg.Client({ connectionString: api.database.ownerUrl });
    await other.connect();
    const lock = '4711';
    await other.query('SELECT pg_advisory_lock($1)', [lock]);
    const body = { name: 'begun', size: GIB };
    const first = await create('begun', body);
    await api.owner.query(
      `UPDATE idempotency_key SET status = NULL, body = NULL, holder = $1 WHERE key = 'begun'`,
      [lock],
    );
    expect(await create('begun', body)).toMatchObject({
      status: 409,
      body: { code: 'idempotency.in_flight' },
    });
    await other.end();
    const again = () => create('begun', body);
    const answer = await eventually('its lock is free', again, ({ status }) => status !== 409);
    expect(answer).toMatchObject({ status: 201, body: { id: first.body.id } });
  });

  test('a request names the lock of its process, which no other process can take', async () => {
    await create('held', { name: 'held', size: GIB });
    const { rows } = await api.owner.query(
      `SELECT pg_try_advisory_lock(holder) AS taken FROM idempotency_key WHERE key = 'held'`,
    );
    expect(rows).toEqual([{ taken: false }]);
  });
});

describe('ETag and If-Match', () => {
  test.each(['volume', 'list'])('of a %s answers 304 until anything of it is different', async (what) => {
    const volume = await api.createVolume();
    const path = what === 'list' ? api.volumes : `${api.volumes}/${volume.id}`;
    const tag = String((await api.call('GET', path)).headers.etag);
    const ask = async (known: string) =>
      (await api.call('GET', path, { headers: { 'if-none-match': known } })).status;
    expect([await ask(tag), await ask(`"other", W/${tag}`), await ask('"other"')]).toEqual([304, 304, 200]);
    // A copy's state is no part of the volume's version.
    await api.owner.query('UPDATE replica SET failed_at = now(), healthy_at = NULL WHERE volume_id = $1', [
      volume.id,
    ]);
    expect(await ask(tag)).toBe(200);
  });

  test('a change with the current tag is done, with an older one refused', async () => {
    const volume = await api.createVolume();
    const path = `${api.volumes}/${volume.id}`;
    const { headers } = await api.call('GET', path);
    const patch = (etag: unknown) =>
      api.call('PATCH', path, { body: { numberOfReplicas: 2 }, headers: { 'if-match': String(etag) } });
    const changed = await patch(headers.etag);
    expect(changed).toMatchObject({ status: 200, body: { numberOfReplicas: 2 } });
    expect(changed.headers.etag).not.toBe(headers.etag);
    expect(await patch(headers.etag)).toMatchObject({ status: 412, body: { code: 'request.stale' } });
    expect(await patch('"nonsense"')).toMatchObject({ status: 412 });
    expect(await patch('*')).toMatchObject({ status: 200 });
    const { headers: now } = await api.call('GET', path);
    expect(await patch(`"other", ${headers.etag}`)).toMatchObject({ status: 412 });
    expect(await patch(`"other", ${headers.etag}, ${now.etag}`)).toMatchObject({ status: 200 });
  });

  test('an action answers with the tag of what it has left, which the next change can name', async () => {
    const { id } = await api.createVolume();
    const path = `${api.volumes}/${id}`;
    await api.owner.query(`UPDATE volume SET state = 'detached' WHERE id = $1`, [id]);
    const attached = await api.call('POST', `${path}/attach`, { body: {} });
    expect(attached).toMatchObject({ status: 202, headers: { etag: `"${attached.body.version}"` } });
    const headers = { 'if-match': String(attached.headers.etag) };
    expect(await api.call('PATCH', path, { body: { numberOfReplicas: 2 }, headers })).toMatchObject({
      status: 200,
    });
  });

  test('of a setting is checked when it is set and when it is reset', async () => {
    const path = `/clusters/${api.seed.clusterId}/settings/event-retention-days`;
    const { etag } = (await api.call('GET', path)).headers;
    const headers = { 'if-match': String(etag) };
    const set = () => api.call('PUT', path, { body: { value: 8 }, headers });
    expect(await set()).toMatchObject({ status: 200, body: { value: 8 } });
    expect(await set()).toMatchObject({ status: 412, body: { code: 'request.stale' } });
    expect(await api.call('DELETE', path, { headers })).toMatchObject({ status: 412 });
    expect(await api.call('GET', path)).toMatchObject({ body: { value: 8 } });
  });

  test('of a copy is what dropping and moving it compare', async () => {
    await api.node('node-tags', 'zone-tags');
    const { id, replicas } = await api.createVolume();
    const [replica] = replicas as { id: string }[];
    const path = `${api.volumes}/${id}/replicas/${replica?.id}`;
    const { etag } = (await api.call('GET', path)).headers;
    const drop = (tag: unknown) =>
      api.call('DELETE', `${path}?dryRun=true`, { headers: { 'if-match': String(tag) } });
    const dropped = await drop(etag);
    expect([dropped.status, dropped.body.code]).not.toEqual([412, 'request.stale']);
    await api.owner.query('UPDATE volume SET version = version + 1 WHERE id = $1', [id]);
    expect(await drop(etag)).toMatchObject({ status: 412, body: { code: 'request.stale' } });
  });

  describe('of what has no version is compared as a whole', () => {
    const make = async () => {
      const { body } = await api.call('POST', '/tokens', { body: { name: 'tagged' } });
      return { id: String(body.id) };
    };
    const end = (id: string, tag: unknown) =>
      api.call('DELETE', `/tokens/${id}`, { headers: { 'if-match': String(tag) } });

    test('before it is deleted', async () => {
      const { id } = await make();
      const { etag } = (await api.call('GET', `/tokens/${id}`)).headers;
      expect(await end(id, '"nonsense"')).toMatchObject({ status: 412, body: { code: 'request.stale' } });
      expect(await api.call('GET', `/tokens/${id}`)).toMatchObject({ status: 200 });
      expect(await end(id, etag)).toMatchObject({ status: 204 });
      expect(await end(id, etag)).toMatchObject({ status: 404, body: { code: 'token.not_found' } });
    });

    test('before an action on it', async () => {
      const { id } = await make();
      const { etag } = (await api.call('GET', `/tokens/${id}`)).headers;
      const rotate = (tag: unknown) =>
        api.call('POST', `/tokens/${id}/rotate`, { body: {}, headers: { 'if-match': String(tag) } });
      expect(await rotate('"nonsense"')).toMatchObject({ status: 412 });
      expect(await rotate(`"other", ${etag}`)).toMatchObject({ status: 200 });
    });

    test('by a session of a browser too, which is let in by its cookie', async () => {
      const { id } = await make();
      const { etag } = (await api.call('GET', `/tokens/${id}`)).headers;
      const signedIn = await api.call('POST', '/sessions', {
        token: null,
        body: { email: api.seed.email, password: api.seed.password },
      });
      const cookie = String(signedIn.headers['set-cookie']).split(';')[0] ?? '';
      const given = { cookie, 'sec-fetch-site': 'same-origin', 'if-match': String(etag) };
      const ended = await api.call('DELETE', `/tokens/${id}`, { token: null, headers: given });
      expect(ended.status).toBe(204);
    });

    test('and what can not be read has no tag that is current', async () => {
      const answer = await api.call('POST', '/sessions/password', {
        body: { currentPassword: 'x', newPassword: 'long enough to be one' },
        headers: { 'if-match': '"1"' },
      });
      expect(answer).toMatchObject({ status: 412 });
    });
  });
});
