/** `?total=true`: how many items a list has on all of its pages. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
  await api.node('node-1', 'zone-a');
  await api.node('node-2', 'zone-b');
  for (const name of ['a-1', 'a-2', 'a-3', 'b-1']) await api.createVolume({ name });
});
afterAll(() => api?.stop());

async function totalOf(path: string, token?: string) {
  const { status, body } = await api.call('GET', path, token === undefined ? {} : { token });
  expect(status).toBe(200);
  const { items = [], total, totalIsAtLeast, nextCursor } = body;
  return { items: items.length, total, totalIsAtLeast, hasMore: nextCursor !== null };
}

test('is told of the whole list, on every page and under its filter', async () => {
  const whole = { total: 4, totalIsAtLeast: false };
  for (const volumes of [api.volumes, '/volumes']) {
    expect(await totalOf(`${volumes}?total=true`)).toEqual({ items: 4, hasMore: false, ...whole });
    expect(await totalOf(`${volumes}?total=true&limit=3`)).toEqual({ items: 3, hasMore: true, ...whole });
    const { headers } = await api.call('GET', `${volumes}?total=true&limit=3`);
    const [, next = ''] = /^<\/api\/v1(.+)>/.exec(String(headers.link)) ?? [];
    expect(await totalOf(next)).toEqual({ items: 1, hasMore: false, ...whole });
    const filtered = await totalOf(`${volumes}?total=true&limit=1&filter=name=a-*`);
    expect(filtered).toEqual({ items: 1, hasMore: true, total: 3, totalIsAtLeast: false });
  }
});

test('is told when it is asked for, and of what the caller may see', async () => {
  const { total, totalIsAtLeast } = await totalOf(`${api.volumes}?limit=3`);
  expect([total, totalIsAtLeast]).toEqual([undefined, undefined]);
  expect((await totalOf(`${api.volumes}?total=false`)).total).toBeUndefined();
  const { token } = await api.otherTenant();
  expect(await totalOf('/volumes?total=true', token)).toMatchObject({ items: 0, total: 0 });
  expect((await api.call('GET', `${api.volumes}?total=yes`)).status).toBe(422);
});

test.each([
  'clusters',
  'projects',
  'members',
  'tokens',
  'operations',
  'events',
  'audit',
  'clusters/:cluster/nodes',
  'clusters/:cluster/disks',
  'clusters/:cluster/zones',
  'clusters/:cluster/rebuilds',
  'clusters/:cluster/orphans',
  'clusters/:cluster/alerts',
  'clusters/:cluster/silences',
  'clusters/:cluster/join-tokens',
  'clusters/:cluster/events',
])('of %s is the number of all its items', async (list) => {
  const path = `/${list.replace(':cluster', api.seed.clusterId)}?total=true`;
  const { items, total } = await totalOf(`${path}&limit=200`);
  expect(total).toBe(items);
  // A page that is not all takes the statement that counts.
  if (items > 1) expect(await totalOf(`${path}&limit=1`)).toMatchObject({ items: 1, total: items });
});

test('counts a hundred thousand, and says that there are more', async () => {
  await api.owner.query(
    `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id, message, at)
     SELECT $1, $2::uuid, pg_current_xact_id()::text::bigint, 'NodeReady', 'info', 'node', ($2::uuid)::text, '', now()
     FROM generate_series(1, 100001)`,
    [api.seed.organizationId, api.seed.clusterId],
  );
  const events = `/clusters/${api.seed.clusterId}/events?limit=1&total=true&filter=type=NodeReady`;
  expect(await totalOf(events)).toMatchObject({ total: 100_000, totalIsAtLeast: true });
  await api.owner.query(
    `DELETE FROM event WHERE id IN (SELECT id FROM event WHERE type = 'NodeReady' LIMIT 1)`,
  );
  expect(await totalOf(events)).toMatchObject({ total: 100_000, totalIsAtLeast: false });
});
