import { randomUUID } from 'node:crypto';
import { MIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let path: string;
let volumeId: string;
const REBUILD = randomUUID();
const rebuildId = (n: number) => `01a1fd5b-0000-7000-8000-0000000003${String(n).padStart(2, '0')}`;

/** Columns in which a rebuild differs from one that waits since noon on a volume with two full copies. */
type Row = {
  state: string;
  copies: number;
  relocates: boolean;
  minute: number;
  size: number;
  preempted: boolean;
};

beforeAll(async () => {
  api = await ApiFixture.start();
  const nodeId = await api.node('node-1', 'zone-a');
  const volume = await api.createVolume({ numberOfReplicas: 1 });
  const [replica] = Array.isArray(volume.replicas) ? volume.replicas : [];
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'running', 'copying', 1, 4096,
       '{"total":1,"compared":0,"skipped":0,"sent":0,"written":0}', now())`,
    [REBUILD, api.seed.organizationId, api.seed.clusterId, volume.id, replica.id, nodeId],
  );
  volumeId = String(volume.id);
  path = `/clusters/${api.seed.clusterId}/rebuilds/${REBUILD}`;
});
afterAll(() => api?.stop());

test('a rebuild is paused, resumed and limited, and its own limit is taken off', async () => {
  expect(await api.call('POST', `${path}/pause`)).toMatchObject({ status: 200, body: { paused: true } });
  expect(await api.call('POST', `${path}/resume`)).toMatchObject({ status: 200, body: { paused: false } });
  const limit = (bandwidthBytesPerSecond: number | null) =>
    api.call('PATCH', path, { body: { bandwidthBytesPerSecond } });
  expect(await limit(50 * MIB)).toMatchObject({
    status: 200,
    body: { bandwidthBytesPerSecond: 50 * MIB, paused: false },
  });
  expect(await limit(1)).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/bandwidthBytesPerSecond' }] },
  });
  expect(await limit(null)).toMatchObject({ status: 200, body: { bandwidthBytesPerSecond: null } });
});

test('a change under a tag that is not the current one is refused, and changes nothing', async () => {
  const { etag } = (await api.call('GET', path)).headers;
  const limit = (tag: unknown, mibPerSecond: number) =>
    api.call('PATCH', path, {
      body: { bandwidthBytesPerSecond: mibPerSecond * MIB },
      headers: { 'if-match': String(tag) },
    });
  expect(await limit(etag, 60)).toMatchObject({ status: 200 });
  expect(await limit(etag, 70)).toMatchObject({ status: 412, body: { code: 'request.stale' } });
  expect((await api.call('GET', path)).body.bandwidthBytesPerSecond).toBe(60 * MIB);
});

test('one that has ended can not be paused any more', async () => {
  await api.owner.query(`UPDATE rebuild SET state = 'succeeded', finished_at = now() WHERE id = $1`, [
    REBUILD,
  ]);
  expect(await api.call('POST', `${path}/pause`)).toMatchObject({
    status: 409,
    body: { code: 'rebuild.finished' },
  });
});

/** In the order in which they are to be read, the ids in it too, so that they decide between equal ones. */
const IN_ORDER: Partial<Row>[] = [
  { state: 'running', copies: 3, minute: 30 },
  { copies: 1, minute: 20 },
  { state: 'running', preempted: true, minute: 0 },
  { minute: 9 },
  { minute: 10, size: 4096 },
  { minute: 10, size: 40_960 },
  { minute: 10, size: 40_960 },
  { copies: 10, minute: 1 },
  { copies: 1, minute: 0, relocates: true },
  { state: 'succeeded', copies: 0, minute: 0 },
];

test('a list is read in the order of the queue, page by page: what runs, what waits, what has ended', async () => {
  await api.owner.query('DELETE FROM rebuild');
  const { organizationId, clusterId } = api.seed;
  for (const [n, row] of [...IN_ORDER.entries()].reverse()) {
    const { state = 'queued', copies = 2, relocates = false, minute = 0, size = 4096 } = row;
    const at = new Date(Date.UTC(2026, 10, 25, 12, minute));
    const preemptedAt = row.preempted === true ? at : null;
    await api.owner.query(
      `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
         healthy_copies, size_bytes, bytes, queued_at, relocates, preempted_at, finished_at)
       VALUES ($1, $2, $3, $4, gen_random_uuid(), gen_random_uuid(), $5, 'copying', $6, $7, '{"total":1}', $8, $9, $10, $11)`,
      [
        rebuildId(n),
        organizationId,
        clusterId,
        volumeId,
        state,
        copies,
        size,
        at,
        relocates,
        preemptedAt,
        state === 'succeeded' ? at : null,
      ],
    );
  }
  const found: Json[] = [];
  let cursor = '';
  do {
    const { status, body } = await api.call(
      'GET',
      `/clusters/${clusterId}/rebuilds?sort=queueOrder&limit=3${cursor}`,
    );
    expect(status).toBe(200);
    found.push(...(body.items ?? []));
    cursor = body.nextCursor === null ? '' : `&cursor=${encodeURIComponent(String(body.nextCursor))}`;
  } while (cursor !== '');
  expect(found.map(({ id }) => id)).toEqual(IN_ORDER.map((_, n) => rebuildId(n)));
  // The place that each is told is the one that it is read at.
  expect(found.map(({ queuePosition }) => queuePosition)).toEqual([null, 1, 2, 3, 4, 5, 6, 7, 8, null]);

  const ofLast = await api.call('GET', `/clusters/${clusterId}/rebuilds?filter=priority=1&sort=-queueOrder`);
  expect(ofLast.body.items?.map(({ id }) => id)).toEqual([rebuildId(8), rebuildId(1)]);
});
