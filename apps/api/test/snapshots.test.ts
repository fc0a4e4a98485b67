import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let nodeId: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) nodeId = await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

const anAttachedVolume = () => api.createAttachedVolume(nodeId);
const pathOf = (volume: Json) => `${api.volumes}/${volume.id}`;
const post = (path: string, body: unknown = {}, headers: Record<string, string> = {}) =>
  api.call('POST', path, { body, headers });

/** As the worker would, once all copies have taken it and the head stands on it. */
async function markTaken(volume: Json, snapshot: Json): Promise<void> {
  await api.owner.query(
    `UPDATE snapshot SET state = 'ready', size_bytes = 4096, checksums = $2 WHERE id = $1`,
    [snapshot.id, JSON.stringify([{ replicaId: snapshot.id, checksum: 'ab' }])],
  );
  const chain = {
    key: '1.1',
    headParentId: snapshot.id,
    headBytes: 0,
    busy: '',
    keptIds: [],
    readAt: new Date(),
  };
  await api.owner.query('UPDATE volume SET chain = $2 WHERE id = $1', [volume.id, JSON.stringify(chain)]);
}

describe("a volume's own answers to the cluster's settings of snapshots", () => {
  test('are said at creation, changed and read', async () => {
    const volume = await api.createVolume({ snapshotDataIntegrity: 'enabled', snapshotMaxCount: 5 });
    const own = { snapshotDataIntegrity: 'enabled', snapshotMaxCount: 5, offlineRebuilding: 'ignored' };
    expect(volume).toMatchObject({ ...own, integrityCheckedAt: null });
    const patch = { snapshotMaxCount: 0, offlineRebuilding: 'enabled' };
    expect((await api.call('PATCH', pathOf(volume), { body: patch })).body).toMatchObject({
      ...own,
      ...patch,
    });
    const read = await api.call('GET', pathOf(volume));
    expect(read.body).toMatchObject({ ...own, ...patch });
    expect(await api.call('PATCH', pathOf(volume), { body: { snapshotMaxCount: 1 } })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/snapshotMaxCount' }] },
    });
  });

  test('a volume that is attached only to be rebuilt reads as detached, and has no address', async () => {
    const volume = await anAttachedVolume();
    const attachment = { requestedAt: new Date(), purpose: 'rebuild' };
    await api.owner.query('UPDATE volume SET attachment = $2 WHERE id = $1', [
      volume.id,
      JSON.stringify(attachment),
    ]);
    const shown = { state: 'detached', attachedNodeId: null, endpoint: null };
    expect((await api.call('GET', pathOf(volume))).body).toMatchObject(shown);
    expect(await post(`${pathOf(volume)}/snapshots`)).toMatchObject({
      body: { code: 'volume.not_attached' },
    });
    expect(await post(`${pathOf(volume)}/verify`)).toMatchObject({ body: { code: 'volume.busy' } });
    expect(await post(`${pathOf(volume)}/detach`)).toMatchObject({ status: 200, body: shown });
    const attached = await post(`${pathOf(volume)}/attach`, { nodeId });
    expect(attached).toMatchObject({ status: 200, body: { state: 'attached', attachedNodeId: nodeId } });
    expect(attached.body.endpoint).not.toBeNull();
  });

  test('a schedule of the cluster is checked', async () => {
    const path = `/clusters/${api.seed.clusterId}/settings/snapshot-data-integrity-cronjob`;
    expect(await api.call('PUT', path, { body: { value: 'often' } })).toMatchObject({
      status: 422,
      body: { code: 'setting.invalid' },
    });
    const set = await api.call('PUT', path, { body: { value: '@weekly' } });
    expect(set.body).toMatchObject({ value: '@weekly', definition: { type: 'cron' } });
    await api.call('DELETE', path);
  });
});

describe('snapshots', () => {
  test('are asked for, shown with their place in the chain, and deleted', async () => {
    const volume = await anAttachedVolume();
    const snapshots = `${pathOf(volume)}/snapshots`;
    const created = await post(snapshots, { name: 'before' });
    expect(created).toMatchObject({
      status: 201,
      body: { name: 'before', origin: 'user', state: 'creating', parentId: null, checksum: null },
    });
    expect(created.headers.location).toBe(`/api/v1${snapshots}/${created.body.id}`);
    const address = `${snapshots}/${created.body.id}`;
    expect(await api.call('DELETE', address)).toMatchObject({
      status: 409,
      body: { code: 'snapshot.in_use' },
    });
    await markTaken(volume, created.body);
    const shown = { state: 'ready', size: 4096, checksum: 'ab', isHeadParent: true };
    expect((await api.call('GET', address)).body).toMatchObject(shown);
    expect((await api.call('GET', snapshots)).body.items).toMatchObject([shown]);
    expect((await api.call('GET', pathOf(volume))).body.chain).toEqual({
      headParentId: created.body.id,
      headBytes: 0,
      busy: '',
    });
    expect(await post(`${address}/hash`)).toMatchObject({ status: 202, body: { isHashing: true } });
    expect(await api.call('DELETE', address)).toMatchObject({ status: 202, body: { state: 'removing' } });
    expect(await api.call('DELETE', address)).toMatchObject({ status: 202 });
    expect(await post(`${address}/hash`)).toMatchObject({ status: 409, body: { code: 'snapshot.in_use' } });
  });

  test('need an attached volume', async () => {
    const volume = await api.createVolume();
    for (const [path, body] of [
      ['snapshots', { name: 's' }],
      ['snapshots/purge', {}],
    ] as const) {
      const answer = await post(`${pathOf(volume)}/${path}`, body);
      expect(answer).toMatchObject({ status: 409, body: { code: 'volume.not_attached' } });
    }
  });

  test('have a name of their own, or else the time; of two at once with one name one wins', async () => {
    const volume = await anAttachedVolume();
    const path = `${pathOf(volume)}/snapshots`;
    const both = await Promise.all([post(path, { name: 'twin' }), post(path, { name: 'twin' })]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect(both.find(({ status }) => status === 409)?.body.code).toBe('snapshot.name_taken');
    expect((await post(path)).body.name).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await post(path, { name: 'a b' })).toMatchObject({ status: 422 });
  });

  test('are taken once for one Idempotency-Key', async () => {
    const volume = await anAttachedVolume();
    const path = `${pathOf(volume)}/snapshots`;
    const key = { 'idempotency-key': `key-${volume.id}` };
    const [first, second] = [await post(path, { name: 'k' }, key), await post(path, { name: 'k' }, key)];
    expect(second.body.id).toBe(first.body.id);
    expect((await api.call('GET', path)).body.items).toHaveLength(1);
  });

  test('a repeat of a request whose process died before it answered has the snapshot that was taken', async () => {
    const volume = await anAttachedVolume();
    const path = `${pathOf(volume)}/snapshots`;
    const key = `died-${volume.id}`;
    const take = () => post(path, { name: 'once' }, { 'idempotency-key': key });
    const first = await take();
    // As if no answer had been stored, and the lock's time had passed.
    await api.owner.query(
      `UPDATE idempotency_key SET status = NULL, body = NULL, locked_until = now() - interval '1 s' WHERE key = $1`,
      [key],
    );
    expect(await take()).toMatchObject({ status: 201, body: { id: first.body.id } });
    expect((await api.call('GET', path)).body.items).toHaveLength(1);
  });

  test('another volume does not have them', async () => {
    const [volume, other] = [await anAttachedVolume(), await anAttachedVolume()];
    const { body } = await post(`${pathOf(volume)}/snapshots`, { name: 's' });
    const elsewhere = await api.call('GET', `${pathOf(other)}/snapshots/${body.id}`);
    expect(elsewhere).toMatchObject({ status: 404, body: { code: 'snapshot.not_found' } });
    const revert = await post(`${pathOf(other)}/revert`, { snapshotId: body.id });
    expect(revert).toMatchObject({ status: 404, body: { code: 'snapshot.not_found' } });
  });

  test('are read by GraphQL too', async () => {
    const volume = await anAttachedVolume();
    const { body } = await post(`${pathOf(volume)}/snapshots`, { name: 'graph' });
    const query = `query ($c: ID!, $v: ID!) {
      snapshots(clusterId: $c, volumeId: $v) { edges { node { id name state isHeadParent } } } }`;
    const answer = await api.send({
      method: 'POST',
      url: '/graphql',
      headers: { authorization: `Bearer ${api.seed.token}` },
      payload: { query, variables: { c: api.seed.clusterId, v: volume.id } },
    });
    expect(JSON.parse(answer.body).data.snapshots.edges).toEqual([
      { node: { id: body.id, name: 'graph', state: 'creating', isHeadParent: false } },
    ]);
  });
});

describe('changes of all layers', () => {
  test('an expansion books its space at once and shows what it waits for; another is refused meanwhile', async () => {
    const volume = await anAttachedVolume();
    const path = pathOf(volume);
    expect(await post(`${path}/expand`, { size: GIB })).toMatchObject({ status: 200, body: { task: null } });
    const asked = await post(`${path}/expand`, { size: 2 * GIB });
    expect(asked).toMatchObject({
      status: 202,
      body: { size: GIB, task: { kind: 'expand', size: 2 * GIB, state: 'waiting', error: null } },
    });
    const replicas = await api.call('GET', `${path}/replicas`);
    expect(replicas.body.items?.map(({ size }) => size)).toEqual([2 * GIB, 2 * GIB, 2 * GIB]);
    expect(await post(`${path}/expand`, { size: 2 * GIB })).toMatchObject({ status: 202 });
    expect(await post(`${path}/expand`, { size: 3 * GIB })).toMatchObject({
      status: 409,
      body: { code: 'volume.busy' },
    });
    expect(await post(`${path}/snapshots/purge`)).toMatchObject({
      status: 409,
      body: { code: 'volume.busy' },
    });
  });

  test('an expansion that does not fit says on which disks, and one that shrinks is wrong', async () => {
    const volume = await anAttachedVolume();
    const refused = await post(`${pathOf(volume)}/expand`, { size: TIB });
    expect(refused).toMatchObject({ status: 409, body: { code: 'volume.expansion_impossible' } });
    expect(refused.body.detail).toMatch(
      /node-a\S* can't take .*node-b\S* can't take .*node-c\S* can't take /,
    );
    expect(await post(`${pathOf(volume)}/expand`, { size: GIB / 2 })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/size' }] },
    });
  });

  test('a purge is asked for once', async () => {
    const volume = await anAttachedVolume();
    for (let count = 0; count < 2; count += 1) {
      const asked = await post(`${pathOf(volume)}/snapshots/purge`);
      const waitingFor = expect.stringContaining('admission');
      expect(asked).toMatchObject({ status: 202, body: { task: { kind: 'purge', waitingFor } } });
    }
    await api.owner.query('UPDATE volume SET turn_at = now() WHERE id = $1', [volume.id]);
    const { body } = await api.call('GET', pathOf(volume));
    expect(body.task).toMatchObject({ kind: 'purge', waitingFor: null });
  });
});

describe('clones', () => {
  test('are volumes like their source that are being created until they are filled', async () => {
    const volume = await anAttachedVolume();
    const { body: snapshot } = await post(`${pathOf(volume)}/snapshots`, { name: 'base' });
    const clone = (body: object) => post(`${pathOf(volume)}/clone`, { snapshotId: snapshot.id, ...body });
    expect(await clone({ name: 'early' })).toMatchObject({ status: 409, body: { code: 'snapshot.in_use' } });
    await markTaken(volume, snapshot);
    expect(await clone({ name: 'small', size: GIB / 2 })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/size' }] },
    });
    const made = await clone({ name: 'copy' });
    expect(made).toMatchObject({
      status: 201,
      body: {
        name: 'copy',
        size: GIB,
        numberOfReplicas: 3,
        state: 'creating',
        fill: { sourceVolumeId: volume.id, snapshotId: snapshot.id, bytes: 0, error: null },
      },
    });
    // What the worker attaches for its own tasks is shown to no user.
    await api.owner.query(
      `UPDATE volume SET state = 'attached', attached_node_id = $2, endpoint = $3, attachment = $4 WHERE id = $1`,
      [
        made.body.id,
        nodeId,
        JSON.stringify({ host: '127.0.0.1', port: 7420, exportName: 'x' }),
        JSON.stringify({ requestedAt: new Date() }),
      ],
    );
    const shown = await api.call('GET', pathOf(made.body));
    expect(shown.body).toMatchObject({ state: 'creating', endpoint: null, attachedNodeId: null });
    expect(shown.body.conditions).toContainEqual(
      expect.objectContaining({ type: 'Filled', status: 'False', reason: 'WaitingForAdmission' }),
    );
    expect(shown.body.fill).toMatchObject({ waitingFor: expect.stringContaining('admission') });
    for (const [action, body] of [
      ['attach', {}],
      ['detach', {}],
      ['expand', { size: 2 * GIB }],
    ] as const) {
      expect(await post(`${pathOf(made.body)}/${action}`, body)).toMatchObject({
        status: 409,
        body: { code: 'volume.busy' },
      });
    }
    const kept = await api.call('DELETE', `${pathOf(volume)}/snapshots/${snapshot.id}`);
    expect(kept).toMatchObject({ status: 409, body: { code: 'snapshot.in_use' } });
    expect(await api.call('DELETE', pathOf(made.body))).toMatchObject({ status: 202 });
    expect(await api.call('DELETE', `${pathOf(volume)}/snapshots/${snapshot.id}`)).toMatchObject({
      status: 202,
    });
  });
});
