import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

const pathOf = (volume: Json) => `${api.volumes}/${volume.id}/recurring-snapshots`;
const put = (volume: Json, name: string, body: object, headers: Record<string, string> = {}) =>
  api.call('PUT', `${pathOf(volume)}/${name}`, { body, headers });

describe('recurring snapshots', () => {
  test('are set, read, changed and ended, also while the volume is detached', async () => {
    const volume = await api.createVolume();
    const made = await put(volume, 'nightly', { cron: '0 3 * * *', retain: 7 });
    expect(made).toMatchObject({
      status: 200,
      body: { name: 'nightly', cron: '0 3 * * *', retain: 7, lastRun: null },
    });
    expect(String(made.body.nextRunAt)).toMatch(/T03:00:00\.000Z$/);
    await put(volume, 'a-first', { cron: '@hourly', retain: 2 });
    const changed = await put(volume, 'nightly', { cron: '0 3 * * *', retain: 3 });
    const { body: list } = await api.call('GET', pathOf(volume));
    expect(list).toMatchObject({
      items: [{ name: 'a-first' }, { name: 'nightly', retain: 3 }],
      nextCursor: null,
    });
    const { body: read } = await api.call('GET', `${api.volumes}/${volume.id}`);
    expect(read.recurringSnapshots).toEqual(list.items);
    expect((await api.call('GET', `${pathOf(volume)}/nightly`)).body).toEqual(changed.body);
    const ended = await api.call('DELETE', `${pathOf(volume)}/nightly`);
    expect(ended).toMatchObject({ status: 200, body: changed.body });
    for (const method of ['GET', 'DELETE']) {
      expect(await api.call(method, `${pathOf(volume)}/nightly`)).toMatchObject({
        status: 404,
        body: { code: 'recurring_snapshot.not_found' },
      });
    }
  });

  test.each<[string, object, string[]]>([
    ['nightly', { cron: 'often', retain: 101 }, ['/cron', '/retain']],
    ['Nightly', { cron: '@daily', retain: 1 }, ['/name']],
    ['nightly', { cron: '0 0 30 2 *', retain: 1 }, ['/cron']],
    ['nightly', { cron: '@daily' }, ['/retain']],
    ['nightly', { cron: '@daily', retain: 1, labels: {} }, ['/labels']],
  ])('%s %j is refused, and every wrong field is named', async (name, body, pointers) => {
    const volume = await api.createVolume();
    const { status, body: problem } = await put(volume, name, body);
    expect([status, problem.code]).toEqual([422, 'request.invalid']);
    expect((problem.errors as Json[]).map(({ pointer }) => pointer)).toEqual(pointers);
  });

  test('a change honours If-Match with the version of the volume', async () => {
    const volume = await api.createVolume();
    const { headers } = await put(volume, 'nightly', { cron: '@daily', retain: 1 });
    const tag = { 'if-match': String(headers.etag) };
    expect((await put(volume, 'nightly', { cron: '@daily', retain: 2 }, tag)).status).toBe(200);
    const stale = await put(volume, 'nightly', { cron: '@daily', retain: 3 }, tag);
    expect(stale).toMatchObject({ status: 412, body: { code: 'request.stale' } });
  });

  test('two at once both stand', async () => {
    const volume = await api.createVolume();
    await Promise.all(['x', 'y', 'z'].map((name) => put(volume, name, { cron: '@daily', retain: 1 })));
    const { body } = await api.call('GET', pathOf(volume));
    expect(body.items?.map(({ name }) => name)).toEqual(['x', 'y', 'z']);
  });
});
