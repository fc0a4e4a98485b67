import { MIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let path: string;
const REBUILD = '01a1fd5b-0000-7000-8000-000000000201';

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

test('one that has ended can not be paused any more', async () => {
  await api.owner.query(`UPDATE rebuild SET state = 'succeeded', finished_at = now() WHERE id = $1`, [
    REBUILD,
  ]);
  expect(await api.call('POST', `${path}/pause`)).toMatchObject({
    status: 409,
    body: { code: 'rebuild.finished' },
  });
});
