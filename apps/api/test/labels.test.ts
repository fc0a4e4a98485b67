/** Labels of volumes, nodes and disks: given, changed one by one, and searched by. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let clusterPath: string;
let nodeId: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  clusterPath = `/clusters/${api.seed.clusterId}`;
  nodeId = await api.node('node-1', 'zone-a');
});
afterAll(() => api?.stop());

const patch = (path: string, labels: unknown) => api.call('PATCH', path, { body: { labels } });

describe('labels of a volume', () => {
  test('are given when it is made, and changed one by one', async () => {
    const volume = await api.createVolume({ labels: { team: 'a', 'app.kubernetes.io/name': 'db' } });
    expect(volume.labels).toEqual({ team: 'a', 'app.kubernetes.io/name': 'db' });
    const path = `${api.volumes}/${volume.id}`;
    const { body } = await patch(path, { team: 'b', tier: '', 'app.kubernetes.io/name': null });
    expect(body.labels).toEqual({ team: 'b', tier: '' });
    expect((await api.call('PATCH', path, { body: { numberOfReplicas: 2 } })).body.labels).toEqual(
      body.labels,
    );
    expect((await patch(path, { team: null, tier: null })).body.labels).toEqual({});
    expect((await api.createVolume()).labels).toEqual({});
  });

  test('leave an event and an audit entry that tell what changed', async () => {
    const volume = await api.createVolume({ name: 'told', labels: { team: 'a' } });
    await patch(`${api.volumes}/${volume.id}`, { team: 'b' });
    const { body } = await api.call('GET', `/events?limit=1&filter=volumeId=${volume.id}`);
    expect(body.items).toMatchObject([
      { type: 'VolumeChanged', message: 'volume told: labels: team=b, was team=a' },
    ]);
    const audit = await api.call('GET', '/audit?limit=1&filter=result%3Ddone');
    expect(audit.body.items).toMatchObject([
      { before: { labels: { team: 'a' } }, after: { labels: { team: 'b' } } },
    ]);
  });

  test.each([
    ['a key that is none', { 'no key': 'v' }],
    ['a value that is none', { team: 'no value' }],
    ['more than there may be', Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`k${n}`, 'v']))],
    ['a number', { team: 7 }],
  ])('with %s are refused', async (_what, labels) => {
    const body = { name: 'wrong', size: 4096, labels };
    expect(await api.call('POST', api.volumes, { body })).toMatchObject({
      status: 422,
      body: { code: 'request.invalid', errors: [{ pointer: expect.stringMatching(/^\/labels/) }] },
    });
  });

  test('read and change in GraphQL as in REST', async () => {
    const { body } = await api.graphql(
      `mutation ($clusterId: ID!, $input: CreateVolumeInput!) { createVolume(clusterId: $clusterId, input: $input) { id labels } }`,
      { input: { name: 'by-graphql', size: 4096, labels: { team: 'g' } } },
    );
    const { id, labels } = body.data.createVolume;
    expect(labels).toEqual({ team: 'g' });
    const changed = await api.graphql(
      `mutation ($clusterId: ID!, $id: ID!) { patchVolume(clusterId: $clusterId, volumeId: $id, input: { labels: { team: null, tier: "x" } }) { labels } }`,
      { id },
    );
    expect(changed.body.data.patchVolume.labels).toEqual({ tier: 'x' });
  });
});

test.each([
  ['a node', () => `${clusterPath}/nodes/${nodeId}`],
  ['a disk', async () => `${clusterPath}/nodes/${nodeId}/disks/${await diskId()}`],
])('labels of %s are changed, and found', async (_what, pathOf) => {
  const path = await pathOf();
  expect((await patch(path, { rack: '7', row: 'b' })).body.labels).toEqual({ rack: '7', row: 'b' });
  expect((await api.call('GET', path)).body.labels).toEqual({ rack: '7', row: 'b' });
  const list = path.replace(/\/[^/]+$/, '');
  const found = await api.call('GET', `${list}?filter=labels.rack in (6, 7)`);
  expect(found.body.items).toHaveLength(1);
  expect((await api.call('GET', `${list}?filter=labels.rack=8`)).body.items).toEqual([]);
  expect((await patch(path, { rack: null, row: null })).body.labels).toEqual({});
  expect((await api.call('GET', `${list}?filter=labels.rack=*`)).body.items).toEqual([]);
});

test.each([
  ['a node', () => `${clusterPath}/nodes/${nodeId}`],
  ['a disk', async () => `${clusterPath}/nodes/${nodeId}/disks/${await diskId()}`],
])('labels of %s concern no volume, as its tags do', async (_what, pathOf) => {
  const path = await pathOf();
  const walks = async () => {
    const { rows } = await api.owner.query('SELECT * FROM reconcile_fan_out');
    await api.owner.query('DELETE FROM reconcile_fan_out');
    return rows.length;
  };
  await walks();
  await patch(path, { shelf: '2' });
  expect(await walks()).toBe(0);
  await api.call('PATCH', path, { body: { tags: ['ssd'] } });
  expect(await walks()).toBe(1);
});

async function diskId(): Promise<string> {
  const { body } = await api.call('GET', `${clusterPath}/disks?limit=1`);
  return String(body.items?.[0]?.id);
}

describe('a list of volumes by labels', () => {
  beforeAll(async () => {
    for (const [name, labels] of [
      ['find-a', { team: 'a', tier: 'gold' }],
      ['find-b', { team: 'b' }],
      ['find-ab', { team: 'ab', 'example.com/x': '1' }],
      ['find-none', undefined],
    ] as const)
      await api.createVolume({ name, ...(labels === undefined ? {} : { labels }) });
  });

  test.each([
    ['labels.team = "a"', ['find-a']],
    ['labels.team in (a, b)', ['find-a', 'find-b']],
    ['labels.team=a*', ['find-a', 'find-ab']],
    ['labels.team=*', ['find-a', 'find-ab', 'find-b']],
    ['labels.team!=*', ['find-none']],
    ['labels.team!=a', ['find-ab', 'find-b', 'find-none']],
    ['labels.team!=a*', ['find-b', 'find-none']],
    ['labels.team=a AND labels.tier=gold', ['find-a']],
    ['labels.tier=gold OR labels.example.com/x=1', ['find-a', 'find-ab']],
    ['labels.nothing=1', []],
  ])('has with %s what the filter names', async (filter, names) => {
    const query = `filter=${encodeURIComponent(`name=find-* AND (${filter})`)}&sort=name`;
    const { body } = await api.call('GET', `${api.volumes}?${query}`);
    expect((body.items ?? []).map(({ name }: Json) => name)).toEqual(names);
  });

  test.each(['labels=a', 'labels.team>a', 'labels.-team=a'])('%s can not be read', async (filter) => {
    const answer = await api.call('GET', `${api.volumes}?filter=${encodeURIComponent(filter)}`);
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
  });

  test('is not sorted by them', async () => {
    expect((await api.call('GET', `${api.volumes}?sort=labels`)).status).toBe(422);
  });

  test('finds nothing of another organization, whose labels are not there', async () => {
    const { token } = await api.otherTenant();
    const { body } = await api.call('GET', '/volumes?filter=labels.team=a', { token });
    expect(body.items).toEqual([]);
  });

  test('finds no volume that is gone', async () => {
    const volume = await api.createVolume({ labels: { team: 'gone' } });
    await api.owner.query(`SELECT set_config('holdfast.organization_id', $1, false)`, [
      api.seed.organizationId,
    ]);
    await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [volume.id]);
    await api.owner.query('DELETE FROM volume WHERE id = $1', [volume.id]);
    const { rows } = await api.owner.query('SELECT FROM object_label WHERE object_id = $1', [volume.id]);
    expect(rows).toEqual([]);
  });
});
