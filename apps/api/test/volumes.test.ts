import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
const nodes: Record<string, string> = {};

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) nodes[zone] = await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

const act = (volume: Json, action: string, body: unknown = {}) =>
  api.call('POST', `${api.volumes}/${volume.id}/${action}`, { body });

/** As the worker would, once the engine runs. */
async function markAttached(volume: Json, nodeId: string | undefined): Promise<void> {
  await api.owner.query(
    `UPDATE volume SET state = 'attached', attached_node_id = $2, epoch = 1, attachment = $3, endpoint = $4
     WHERE id = $1`,
    [
      volume.id,
      nodeId,
      JSON.stringify({ nodeId, requestedAt: new Date() }),
      JSON.stringify({ host: '127.0.0.1', port: 7420, exportName: `${volume.id}/secret` }),
    ],
  );
}

describe('creating', () => {
  test('places one replica in each zone and books its space, at once', async () => {
    const volume = await api.createVolume({ name: 'placed' });
    expect(volume).toMatchObject({
      state: 'creating',
      size: GIB,
      numberOfReplicas: 3,
      conditions: [{ type: 'Scheduled', status: 'True' }],
    });
    const replicas = Array.isArray(volume.replicas) ? volume.replicas : [];
    expect(replicas.map(({ zone }) => zone).sort()).toEqual(['zone-a', 'zone-b', 'zone-c']);
    const { body } = await api.call('GET', `/clusters/${api.seed.clusterId}/disks`);
    expect((body.items ?? []).map(({ storageScheduled }) => storageScheduled)).toEqual([GIB, GIB, GIB]);
  });

  test('a volume that fits nowhere exists, and says why and what would cure it', async () => {
    const volume = await api.createVolume({ name: 'too-large', size: TIB });
    expect(volume.conditions).toMatchObject([
      { type: 'Scheduled', status: 'False', message: expect.stringMatching(/insufficient storage/) },
    ]);
    const explained = await act(volume, 'explain');
    expect(explained.body).toMatchObject({ nextReplica: { fits: false, cures: expect.any(Array) } });
    expect(JSON.stringify(explained.body.nextReplica)).toContain('node-a');
  });

  test('is found by the node or disk of any of its copies', async () => {
    const volume = await api.createVolume({ name: 'somewhere', numberOfReplicas: 1 });
    const [copy] = Array.isArray(volume.replicas) ? volume.replicas : [];
    const namesBy = async (filter: string) => {
      const query = `filter=${encodeURIComponent(`${filter} AND name=somewhere`)}`;
      const { body } = await api.call('GET', `${api.volumes}?${query}`);
      return (body.items ?? []).map(({ name }) => name);
    };
    expect(await namesBy(`replicas.nodeId=${copy.nodeId}`)).toEqual(['somewhere']);
    expect(await namesBy(`replicas.nodeId!=${copy.nodeId}`)).toEqual([]);
    expect(await namesBy(`replicas.diskId in (${copy.diskId})`)).toEqual(['somewhere']);
    expect(await namesBy(`replicas.diskId=${copy.nodeId}`)).toEqual([]);
    await api.call('DELETE', `${api.volumes}/${volume.id}`);
  });

  test('keeps to the zones that it names, shows them, and refuses another one later', async () => {
    const topologyRequirement = [{ zone: 'zone-c' }, { zone: 'zone-b', region: 'nowhere' }];
    const volume = await api.createVolume({ name: 'in-zone-c', numberOfReplicas: 1, topologyRequirement });
    const address = `${api.volumes}/${volume.id}`;
    const shown = (await api.call('GET', address)).body;
    expect(shown).toMatchObject({ topologyRequirement, replicas: [{ zone: 'zone-c' }] });
    const changed = await api.call('PATCH', address, { body: { topologyRequirement: [] } });
    expect(changed).toMatchObject({ status: 422 });
    const wrong = { name: 'everywhere', size: GIB, topologyRequirement: [{}] };
    expect(await api.call('POST', api.volumes, { body: wrong })).toMatchObject({
      status: 422,
      body: { errors: [{ pointer: '/topologyRequirement' }] },
    });
    await api.call('DELETE', address);
  });

  test('takes, changes and shows its own choice of disks', async () => {
    expect(await api.createVolume()).toMatchObject({ replicaDiskChoice: 'ignored' });
    const volume = await api.createVolume({ replicaDiskChoice: 'pack' });
    const address = `${api.volumes}/${volume.id}`;
    expect((await api.call('GET', address)).body).toMatchObject({ replicaDiskChoice: 'pack' });
    const patched = await api.call('PATCH', address, { body: { replicaDiskChoice: 'spread' } });
    expect(patched.body).toMatchObject({ replicaDiskChoice: 'spread', generation: 2 });
    const renamed = await api.call('PATCH', address, { body: { dataLocality: 'best-effort' } });
    expect(renamed.body).toMatchObject({ replicaDiskChoice: 'spread' });
    const wrong = await api.call('PATCH', address, { body: { replicaDiskChoice: 'stack' } });
    expect(wrong).toMatchObject({ status: 422, body: { errors: [{ pointer: '/replicaDiskChoice' }] } });
  });

  test('is answered with what a read shows, and with where the time went', async () => {
    const created = await api.call('POST', api.volumes, { body: { name: 'timed', size: GIB } });
    expect(created.headers['server-timing']).toMatch(
      /^wait;dur=[\d.]+, decide;dur=[\d.]+, commit;dur=[\d.]+$/,
    );
    expect((await api.call('GET', `${api.volumes}/${created.body.id}`)).body).toEqual(created.body);
  });

  test('a name is taken once', async () => {
    await api.createVolume({ name: 'taken' });
    const again = await api.call('POST', api.volumes, { body: { name: 'taken', size: GIB } });
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'volume.name_taken', errors: [{ pointer: '/name' }] },
    });
  });

  test('writes an event, an audit entry and a wake-up with it', async () => {
    const volume = await api.createVolume({ name: 'traced' });
    const { body } = await api.call(
      'GET',
      `/clusters/${api.seed.clusterId}/events?filter=volumeId=${volume.id}`,
    );
    expect(body.items).toMatchObject([{ type: 'VolumeCreated', severity: 'info', volumeId: volume.id }]);
    const audit = await api.owner.query(
      `SELECT action, target_kind FROM audit_entry WHERE result = 'done' ORDER BY id DESC LIMIT 1`,
    );
    expect(audit.rows).toEqual([
      { action: 'POST /api/v1/clusters/:clusterId/volumes', target_kind: 'cluster' },
    ]);
    const shown = await api.call('GET', '/audit?limit=1&filter=result%3Ddone');
    expect(shown.body.items).toMatchObject([{ action: audit.rows[0].action, actor: { kind: 'user/api' } }]);
    const outbox = await api.owner.query('SELECT kind FROM outbox WHERE target_id = $1', [volume.id]);
    expect(outbox.rows).toEqual([{ kind: 'volume' }]);
  });
});

describe('attaching', () => {
  test('is accepted while the volume is being created, and is idempotent on the same node', async () => {
    const volume = await api.createVolume();
    expect(await act(volume, 'attach', { nodeId: nodes.a })).toMatchObject({
      status: 202,
      body: { endpoint: null },
    });
    expect(await act(volume, 'attach', { nodeId: nodes.a })).toMatchObject({ status: 202 });
  });

  test('needs no body of the request', async () => {
    const volume = await api.createVolume();
    const answer = await api.call('POST', `${api.volumes}/${volume.id}/attach`);
    expect(answer.status).toBe(202);
  });

  test('an unknown node is named', async () => {
    const volume = await api.createVolume();
    const unknown = '01a1fd5b-0000-7000-8000-000000000000';
    const answer = await act(volume, 'attach', { nodeId: unknown });
    expect(answer).toMatchObject({ status: 404, body: { code: 'node.not_found' } });
    expect(answer.body.detail).toContain(unknown);
  });

  test('an attached volume shows its address, and viewers get none', async () => {
    const volume = await api.createVolume();
    await markAttached(volume, nodes.a);
    const path = `${api.volumes}/${volume.id}`;
    expect((await act(volume, 'attach', { nodeId: nodes.a })).status).toBe(200);
    expect((await api.call('GET', path)).body.endpoint).toEqual({
      nbdUri: `nbd://127.0.0.1:7420/${volume.id}%2Fsecret`,
    });
    const token = await api.tokenOfRole('viewer');
    expect((await api.call('GET', path, { token })).body.endpoint).toEqual({ nbdUri: null });
  });

  test('elsewhere is a conflict that names the holder and says whether it is alive', async () => {
    const volume = await api.createVolume();
    await markAttached(volume, nodes.a);
    const refused = await act(volume, 'attach', { nodeId: nodes.b });
    expect(refused).toMatchObject({ status: 409, body: { code: 'volume.attached_elsewhere' } });
    expect(refused.body.detail).toMatch(/node-a.*alive/);
  });

  test('of two that attach to different nodes at once one wins', async () => {
    const volume = await api.createVolume();
    await api.owner.query(`UPDATE volume SET state = 'detached' WHERE id = $1`, [volume.id]);
    const answers = await Promise.all([
      act(volume, 'attach', { nodeId: nodes.a }),
      act(volume, 'attach', { nodeId: nodes.b }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
  });
});

describe('an attached volume', () => {
  test('can be neither deleted nor verified; after detach it can', async () => {
    const volume = await api.createVolume();
    await markAttached(volume, nodes.a);
    const path = `${api.volumes}/${volume.id}`;
    expect(await api.call('DELETE', path)).toMatchObject({ status: 409, body: { code: 'volume.attached' } });
    expect(await act(volume, 'verify')).toMatchObject({ status: 409, body: { code: 'volume.attached' } });
    expect(await act(volume, 'detach')).toMatchObject({
      status: 202,
      body: { state: 'detaching', endpoint: null },
    });
    await api.owner.query(`UPDATE volume SET state = 'detached', attached_node_id = NULL WHERE id = $1`, [
      volume.id,
    ]);
    expect(await act(volume, 'detach', { force: true })).toMatchObject({ status: 200 });
    expect(await api.call('DELETE', path)).toMatchObject({ status: 202, body: { state: 'deleting' } });
  });

  test('on a dead node is let go by force only', async () => {
    const volume = await api.createVolume();
    await markAttached(volume, nodes.c);
    await api.owner.query(`UPDATE node SET conditions = '[]' WHERE id = $1`, [nodes.c]);
    expect(await act(volume, 'detach')).toMatchObject({
      status: 409,
      body: { code: 'volume.holder_unreachable' },
    });
    expect(await act(volume, 'detach', { force: true })).toMatchObject({ status: 202 });
  });
});

describe('verify', () => {
  test('waits for the result', async () => {
    const volume = await api.createVolume();
    await api.owner.query(`UPDATE volume SET state = 'detached' WHERE id = $1`, [volume.id]);
    const asked = act(volume, 'verify');
    const replicaId = '01a1fd5b-0000-7000-8000-000000000001';
    const verification = {
      requestedAt: new Date(),
      state: 'done',
      finishedAt: new Date(),
      equal: true,
      replicas: [{ replicaId, checksum: 'ab12', writtenBytes: 0, error: null }],
      message: 'all equal',
    };
    const done = () =>
      api.owner.query(
        `UPDATE volume SET verification = $2 WHERE id = $1 AND verification->>'state' = 'running'`,
        [volume.id, JSON.stringify(verification)],
      );
    while ((await done()).rowCount === 0);
    expect(await asked).toMatchObject({
      status: 200,
      body: { equal: true, state: 'done', replicas: [{ replicaId, checksum: 'ab12' }] },
    });
  });
});

describe('nodes and disks', () => {
  test('are changed by people, and forgotten only when they are gone and empty', async () => {
    const path = `/clusters/${api.seed.clusterId}/nodes/${nodes.b}`;
    const patched = await api.call('PATCH', path, { body: { tags: ['ssd'], zone: null, cordoned: true } });
    expect(patched).toMatchObject({ status: 200, body: { tags: ['ssd'], zone: null, cordoned: true } });
    expect(await api.call('DELETE', path)).toMatchObject({ status: 409, body: { code: 'node.in_use' } });
    const disks = await api.call('GET', `${path}/disks`);
    const disk = disks.body.items?.[0]?.id;
    const reserved = await api.call('PATCH', `${path}/disks/${disk}`, { body: { storageReserved: GIB } });
    expect(reserved).toMatchObject({ status: 200, body: { storageReserved: GIB } });
    const empty = await api.node('node-empty', 'zone-a');
    await api.owner.query(`UPDATE node SET conditions = '[]' WHERE id = $1`, [empty]);
    const removed = await api.call('DELETE', `/clusters/${api.seed.clusterId}/nodes/${empty}`);
    expect(removed.status).toBe(204);
  });
});

describe('short addresses', () => {
  test('lead to the full ones below the cluster, with method and body', async () => {
    const volume = await api.createVolume({ name: 'short' });
    const short = `/volumes/${volume.id}`;
    const read = await api.call('GET', `${short}?x=1`);
    expect(read.status).toBe(308);
    expect(read.headers.location).toBe(`/api/v1${api.volumes}/${volume.id}?x=1`);
    const action = await api.call('POST', `${short}/attach`, { body: {} });
    expect(action.headers.location).toBe(`/api/v1${api.volumes}/${volume.id}/attach`);
  });

  test('of what is not there are a 404', async () => {
    const id = '01890000-0000-7000-8000-000000000000';
    for (const address of [`volumes/${id}`, `nodes/${id}/drain`, 'nodes/no-id']) {
      expect((await api.call('GET', `/${address}`)).status).toBe(404);
    }
  });
});
