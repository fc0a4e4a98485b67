import { randomUUID } from 'node:crypto';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

test.each([
  ['migrating', 'VolumeMigrating'],
  ['restoring', 'VolumeRestoring'],
  ['standby', 'VolumeStandby'],
])('a volume that is held as %s says so, and that its copies are not rebuilt', async (hold, reason) => {
  const { id } = await api.createVolume();
  expect(await api.call('GET', `${api.volumes}/${id}`)).toMatchObject({ body: { rebuildHold: null } });
  await api.owner.query('UPDATE volume SET rebuild_hold = $2 WHERE id = $1', [id, hold]);
  const { body } = await api.call('GET', `${api.volumes}/${id}`);
  expect(body.rebuildHold).toBe(hold);
  expect(body.conditions).toContainEqual(
    expect.objectContaining({
      type: 'RebuildsHeld',
      status: 'True',
      reason,
      message: expect.stringContaining('missing copies are not rebuilt'),
    }),
  );
});

test('no request sets or takes a hold', async () => {
  const { id } = await api.createVolume();
  for (const rebuildHold of ['standby', null]) {
    expect(await api.call('PATCH', `${api.volumes}/${id}`, { body: { rebuildHold } })).toMatchObject({
      status: 422,
    });
  }
  const body = { name: 'held', size: 2 ** 30, rebuildHold: 'standby' };
  expect(await api.call('POST', api.volumes, { body })).toMatchObject({ status: 422 });
});

test('a disk without direct I/O has a condition that says what it costs', async () => {
  const disks = [aDiskReport(asId<DiskId>(randomUUID()), { directIo: false })];
  const nodeId = await api.beat(aHeartbeat('node-1', { disks }));
  const list = await api.call('GET', `/clusters/${api.seed.clusterId}/nodes/${nodeId}/disks`);
  expect(list.body.items?.[0]?.conditions).toContainEqual(
    expect.objectContaining({
      type: 'DirectIo',
      status: 'False',
      reason: 'DirectIoRefused',
      message: expect.stringContaining('page cache'),
    }),
  );
});
