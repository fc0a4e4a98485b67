/** Operations: long work as a resource, from its request until after its end. */
import { randomUUID } from 'node:crypto';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let nodeId: string;
let volume: Json;
let path: string;
let operations: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  nodeId = await api.node('node-1', 'zone-a');
  await api.node('node-2', 'zone-b');
  operations = `/clusters/${api.seed.clusterId}/operations`;
});
afterAll(() => api?.stop());
beforeEach(async () => {
  volume = await api.createAttachedVolume(nodeId);
  path = `${api.volumes}/${volume.id}`;
});

/** Reads what a `Location` names. */
async function follow({ headers }: { headers: object }) {
  const { location } = headers as { location?: string };
  expect(location).toEqual(expect.any(String));
  return (await api.call('GET', String(location).replace('/api/v1', ''))).body;
}

/** Changes the volume as the worker would, in one transaction with an event about it where there is one. */
async function asWorker(change: string, event?: { type: string; message: string }): Promise<void> {
  await api.owner.query('BEGIN');
  await api.owner.query(`UPDATE volume SET ${change} WHERE id = $1`, [volume.id]);
  if (event !== undefined)
    await api.owner.query(
      `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id,
         volume_id, message, at)
       SELECT organization_id, cluster_id, pg_current_xact_id()::text::bigint, $2, 'warning', 'volume', id, id, $3, now()
       FROM volume WHERE id = $1`,
      [volume.id, event.type, event.message],
    );
  await api.owner.query('COMMIT');
}

describe('an expansion', () => {
  const expand = () => api.call('POST', `${path}/expand`, { body: { size: 2 * GIB } });

  test('is an operation from its answer on, which stays when it is done', async () => {
    const answer = await expand();
    expect(answer.status).toBe(202);
    const begun = await follow(answer);
    expect(begun).toMatchObject({
      kind: 'expand',
      target: { kind: 'volume', id: volume.id },
      state: 'queued',
      steps: [{ name: 'queued', state: 'current' }, { name: 'running' }],
      progress: { done: null, total: 2 * GIB, unit: 'bytes' },
      cancellable: true,
      finishedAt: null,
    });
    await asWorker(`layer_task = NULL, size_bytes = ${2 * GIB}`);
    const wanted = { id: begun.id, state: 'succeeded', finishedAt: expect.any(String) };
    expect(await follow(answer)).toMatchObject(wanted);
    expect((await api.call('GET', `/operations/${begun.id}`)).body).toMatchObject(wanted);
  });

  test('that is given up has failed, with the reason that was told', async () => {
    const answer = await expand();
    const message = 'the expand was given up: no space';
    await asWorker('layer_task = NULL', { type: 'VolumeTaskFailed', message });
    expect(await follow(answer)).toMatchObject({ state: 'failed', message });
  });

  test('is cancelled as an operation, which then says so, and takes no space any more', async () => {
    const { id } = await follow(await expand());
    expect(await api.call('POST', `${operations}/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { kind: 'expand', state: 'cancelled' },
    });
    expect((await api.call('GET', path)).body).toMatchObject({ task: null });
    expect((await follow(await expand())).state).toBe('queued');
  });

  test('of a volume that is deleted meanwhile is cancelled, and the deletion is one of its own', async () => {
    const expansion = await expand();
    await asWorker(`state = 'detached', attached_node_id = NULL, attachment = NULL, endpoint = NULL`);
    const deletion = await api.call('DELETE', path);
    expect(await follow(expansion)).toMatchObject({ state: 'cancelled' });
    expect(await follow(deletion)).toMatchObject({ kind: 'delete', state: 'running' });
    await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [volume.id]);
    await api.owner.query('DELETE FROM volume WHERE id = $1', [volume.id]);
    expect(await follow(deletion)).toMatchObject({ kind: 'delete', state: 'succeeded' });
  });
});

describe('a drain', () => {
  test('is cancelled as an operation, by whoever may change nodes', async () => {
    const drained = await api.node(`node-${randomUUID().slice(0, 8)}`, 'zone-c');
    const node = `/clusters/${api.seed.clusterId}/nodes/${drained}`;
    const answer = await api.call('POST', `${node}/drain`, { body: { policy: 'block-for-eviction' } });
    const { id, cancellable } = await follow(answer);
    expect(cancellable).toBe(true);
    const operator = await api.tokenOfRole('operator');
    expect(await api.call('POST', `${operations}/${id}/cancel`, { token: operator })).toMatchObject({
      status: 403,
      body: { code: 'auth.forbidden' },
    });
    expect(await api.call('POST', `${operations}/${id}/cancel`)).toMatchObject({
      status: 200,
      body: { state: 'cancelled' },
    });
    expect((await api.call('GET', node)).body).toMatchObject({ drain: null, cordoned: false });
    expect(await api.call('POST', `${operations}/${id}/cancel`)).toMatchObject({
      status: 409,
      body: { code: 'operation.not_cancellable', detail: expect.stringContaining('cancelled') },
    });
  });
});

test('an eviction is an operation, and cancelling it is taking its wish back', async () => {
  const evicted = await api.node(`node-${randomUUID().slice(0, 8)}`, 'zone-c');
  const node = `/clusters/${api.seed.clusterId}/nodes/${evicted}`;
  await api.call('PATCH', node, { body: { allowScheduling: false, evictionRequested: true } });
  const { body } = await api.call('GET', `${operations}?filter=kind=evict AND nodeId=${evicted}`);
  const [eviction] = body.items ?? [];
  expect(eviction).toMatchObject({ state: 'running', target: { kind: 'node', id: evicted } });
  await api.call('POST', `${operations}/${eviction?.id}/cancel`);
  expect((await api.call('GET', node)).body).toMatchObject({ evictionRequested: false });
});

test('a comparison of copies can be ended as the operation that it is', async () => {
  await asWorker(`state = 'detached', attached_node_id = NULL, attachment = NULL, endpoint = NULL`);
  await asWorker(
    `verification = jsonb_build_object('requestedAt', '2026-01-01T00:00:00.000Z', 'state', 'running', 'replicas', '[]'::jsonb,
       'message', '')`,
  );
  const id = `verify-${volume.id}-${Date.parse('2026-01-01T00:00:00Z')}`;
  expect((await api.call('GET', `${operations}/${id}`)).body).toMatchObject({ state: 'running' });
  const { body } = await api.call('POST', `${operations}/${id}/cancel`);
  expect(body).toMatchObject({ state: 'failed', message: 'a user ended it' });
});

describe('lists', () => {
  test('go on by pages over what runs and what has ended, newest first', async () => {
    const mine = `filter=volumeId=${volume.id}`;
    for (let count = 0; count < 3; count += 1) {
      await api.call('POST', `${path}/snapshots/purge`);
      if (count < 2) await asWorker('layer_task = NULL');
    }
    const all = (await api.call('GET', `${operations}?${mine}`)).body.items ?? [];
    expect(all.map(({ state }) => state)).toEqual(['queued', 'succeeded', 'succeeded']);
    const first = (await api.call('GET', `${operations}?${mine}&limit=2`)).body;
    const rest = (await api.call('GET', `${operations}?${mine}&limit=2&cursor=${first.nextCursor}`)).body;
    const paged = [...(first.items ?? []), ...(rest.items ?? [])];
    expect(paged.map(({ id }) => id)).toEqual(all.map(({ id }) => id));
    expect(rest.nextCursor).toBeNull();
    expect((await api.call('GET', `/operations?${mine} AND state=queued`)).body.items).toHaveLength(1);
  });

  test('have fields in GraphQL, and cancelling a mutation', async () => {
    await api.call('POST', `${path}/snapshots/purge`);
    const query = `query ($clusterId: ID!, $filter: String) {
      operations(clusterId: $clusterId, filter: $filter) { edges { node { id kind state steps { name state } } } } }`;
    const { body } = await api.graphql(query, { filter: `volumeId=${volume.id}` });
    const [{ node }] = body.data.operations.edges;
    expect(node).toMatchObject({ kind: 'purge', state: 'queued' });
    const cancel = `mutation ($clusterId: ID!, $id: ID!) {
      cancelOperation(clusterId: $clusterId, operationId: $id) { state } }`;
    const refused = await api.graphql(cancel, { id: node.id });
    expect(JSON.stringify(refused.body)).toContain('operation.not_cancellable');
  });

  test('show nothing of it to another organization', async () => {
    const answer = await api.call('POST', `${path}/snapshots/purge`);
    const { id } = await follow(answer);
    await asWorker('layer_task = NULL');
    const { token } = await api.otherTenant();
    expect((await api.call('GET', '/operations', { token })).body.items).toEqual([]);
    expect((await api.call('GET', `/operations/${id}`, { token })).status).toBe(404);
  });
});
