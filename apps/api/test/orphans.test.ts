import { randomUUID } from 'node:crypto';
import { heartbeatSchema } from '@holdfast/core/model/agent-protocol.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat } from '@holdfast/testkit/builders.js';
import { makeNodesReady } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let path: string;
const DISK = asId<DiskId>(randomUUID());
const COPY = randomUUID();

beforeAll(async () => {
  api = await ApiFixture.start();
  path = `/clusters/${api.seed.clusterId}/orphans`;
});
afterAll(() => api?.stop());

/** An agent reports an orphan; what the worker would do about it is done here. */
beforeEach(async () => {
  await api.owner.query('DELETE FROM orphan');
  await beat([
    { replicaId: COPY, volumeId: randomUUID(), diskId: DISK, writtenBytes: 3 * MIB, record: null },
  ]);
  await makeNodesReady(api.owner);
  await api.owner.query('UPDATE orphan SET announced_at = now()');
});

function beat(replicas: unknown[]) {
  const disks = [aDiskReport(DISK, { name: 'disk-1' })];
  return api.beat(heartbeatSchema.parse({ ...aHeartbeat('node-1', { disks }), replicas }));
}

async function onlyId(): Promise<string> {
  const { body } = await api.call('GET', path);
  return String(body.items?.[0]?.id);
}

test('one is listed, found by a filter and read', async () => {
  const shown = {
    nodeName: 'node-1',
    diskName: 'disk-1',
    replicaId: COPY,
    volumeName: null,
    size: 3 * MIB,
    isReachable: true,
    state: 'found',
    error: null,
    firstSeenAt: expect.any(String),
  };
  const list = await api.call('GET', `${path}?filter=${encodeURIComponent('size>1Mi')}`);
  expect(list).toMatchObject({ status: 200, body: { items: [shown], nextCursor: null } });
  expect(await api.call('GET', `${path}/${await onlyId()}`)).toMatchObject({ status: 200, body: shown });
});

test('one that was seen only now is not shown', async () => {
  const id = await onlyId();
  await api.owner.query('UPDATE orphan SET announced_at = NULL');
  expect((await api.call('GET', path)).body.items).toEqual([]);
  for (const method of ['GET', 'DELETE']) {
    expect(await api.call(method, `${path}/${id}`)).toMatchObject({
      status: 404,
      body: { code: 'orphan.not_found' },
    });
  }
});

test('its removal is asked for once, wakes the cluster and is in the audit log', async () => {
  const id = await onlyId();
  await api.owner.query('DELETE FROM outbox');
  for (let time = 0; time < 2; time += 1) {
    expect(await api.call('DELETE', `${path}/${id}`)).toMatchObject({
      status: 202,
      body: { id, state: 'removing' },
    });
  }
  const { rows } = await api.owner.query('SELECT kind, target_id FROM outbox');
  expect(rows).toEqual([{ kind: 'cluster', target_id: api.seed.clusterId }]);
  const audit = await api.owner.query(
    `SELECT target_kind FROM audit_entry WHERE target_id = $1 AND action LIKE 'DELETE%'`,
    [id],
  );
  expect(audit.rows).toEqual([{ target_kind: 'orphan' }]);
});

test('while its disk does not answer its removal is refused', async () => {
  const id = await onlyId();
  await api.owner.query(`UPDATE node SET conditions = '[]'`);
  expect(await api.call('GET', `${path}/${id}`)).toMatchObject({ body: { isReachable: false } });
  expect(await api.call('DELETE', `${path}/${id}`)).toMatchObject({
    status: 409,
    body: { code: 'disk.not_ready' },
  });
});

test('it is gone from the list when it is gone from the disk', async () => {
  await beat([]);
  expect((await api.call('GET', path)).body.items).toEqual([]);
});

test('removing data takes an admin', async () => {
  const token = await api.tokenOfRole('operator');
  expect(await api.call('GET', path, { token })).toMatchObject({ status: 200 });
  expect(await api.call('DELETE', `${path}/${await onlyId()}`, { token })).toMatchObject({ status: 403 });
});

test('GraphQL reads and removes the same', async () => {
  const orphanId = await onlyId();
  const read = await api.graphql(
    `query ($clusterId: ID!, $orphanId: ID!) {
       orphans(clusterId: $clusterId) { edges { node { id nodeName size } } }
       orphan(clusterId: $clusterId, orphanId: $orphanId) { state }
     }`,
    { orphanId },
  );
  expect(read.body).toEqual({
    data: {
      orphans: { edges: [{ node: { id: orphanId, nodeName: 'node-1', size: 3 * MIB } }] },
      orphan: { state: 'found' },
    },
  });
  const removed = await api.graphql(
    'mutation ($clusterId: ID!, $orphanId: ID!) { deleteOrphan(clusterId: $clusterId, orphanId: $orphanId) { state } }',
    { orphanId },
  );
  expect(removed.body).toEqual({ data: { deleteOrphan: { state: 'removing' } } });
});

test.each<[unknown, number]>([
  ['replica-data', 200],
  ['instance;replica-data', 200],
  ['', 200],
  ['replica-data;disks', 422],
  [true, 422],
])('orphan-resource-auto-deletion %p: %d', async (value, status) => {
  const setting = `/clusters/${api.seed.clusterId}/settings/orphan-resource-auto-deletion`;
  expect(await api.call('PUT', setting, { body: { value } })).toMatchObject({ status });
});
