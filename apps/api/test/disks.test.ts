import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let disks: string;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

let count = 0;
beforeEach(async () => {
  count += 1;
  const nodeId = await api.node(`node-${count}`, 'zone-a');
  disks = `/clusters/${api.seed.clusterId}/nodes/${nodeId}/disks`;
});

const BODY = { path: '/mnt/disk-9', size: 1_000_000_000, tags: ['ssd'], storageReserved: 1_000 };

describe('a disk that is added', () => {
  test('is there at once, and says that its agent has yet to set it up', async () => {
    const added = await api.call('POST', disks, { body: BODY });
    expect(added).toMatchObject({
      status: 201,
      body: {
        name: 'disk-9',
        type: 'filesystem',
        tags: ['ssd'],
        storageReserved: 1_000,
        addedAt: expect.any(String),
        conditions: [expect.objectContaining({ type: 'Ready', status: 'False', reason: 'DiskPending' })],
      },
    });
    expect(await api.call('POST', disks, { body: { ...BODY, name: 'other' } })).toMatchObject({
      status: 409,
      body: { code: 'disk.exists' },
    });
  });

  test('is one disk however often a request with its idempotency key is sent', async () => {
    const headers = { 'idempotency-key': 'one-disk' };
    const [first, second] = [
      await api.call('POST', disks, { body: BODY, headers }),
      await api.call('POST', disks, { body: BODY, headers }),
    ];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toMatchObject({ path: BODY.path });
  });

  test.each([
    ['a relative path', { path: 'disk' }],
    ['a path that climbs', { path: '/mnt/../etc' }],
    ['a path with a NUL', { path: '/mnt/\u0000' }],
    ['no path', {}],
    ['a negative size', { path: '/mnt/a', size: -1 }],
    ['a field that is not known', { path: '/mnt/a', fast: true }],
    ['a name that leaves the folder', { path: '/mnt/a', name: '../b' }],
  ])('is refused for %s', async (_what, body) => {
    expect(await api.call('POST', disks, { body })).toMatchObject({
      status: 422,
      body: { code: 'request.invalid' },
    });
  });
});

test('a disk that is taken off is there until its agent lets go, or goes at once where the agent is not heard', async () => {
  const list = await api.call('GET', disks);
  const [disk] = (list.body as { items: { id: string }[] }).items;
  expect(
    await api.call('DELETE', `${disks}/${disk?.id}`, { headers: { 'if-match': '"999"' } }),
  ).toMatchObject({
    status: 412,
  });
  expect(await api.call('DELETE', `${disks}/00000000-0000-7000-8000-000000000000`)).toMatchObject({
    status: 404,
    body: { code: 'disk.not_found' },
  });
  const address = `${disks}/${disk?.id}`;
  expect((await api.call('DELETE', address)).status).toBe(204);
  expect(await api.call('GET', address)).toMatchObject({
    status: 200,
    body: { removalRequestedAt: expect.any(String), allowScheduling: false },
  });
  await api.owner.query(`UPDATE disk SET removal_requested_at = NULL`);
  await api.owner.query(`UPDATE node SET conditions = '[]'`);
  expect((await api.call('DELETE', address)).status).toBe(204);
  expect((await api.call('GET', `${disks}/${disk?.id}`)).status).toBe(404);
});
