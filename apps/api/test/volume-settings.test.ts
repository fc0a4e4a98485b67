import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

const setting = (name: string, value: unknown) =>
  api.call('PUT', `/clusters/${api.seed.clusterId}/settings/${name}`, { body: { value } });

async function shown(volume: Json): Promise<Map<string, Json>> {
  const { body } = await api.call('GET', `${api.volumes}/${volume.id}/settings`);
  return new Map((body.items ?? []).map((item) => [String(item.name), item]));
}

test('a volume shows what is in effect and who says so, and follows its cluster again when told to', async () => {
  const volume = await api.createVolume();
  const path = `${api.volumes}/${volume.id}`;
  expect((await shown(volume)).get('snapshotDataIntegrity')).toMatchObject({
    value: 'fast-check',
    own: null,
    source: 'default',
    follows: 'snapshot-data-integrity',
    clusterValue: 'fast-check',
    followWith: 'ignored',
    definition: { options: ['disabled', 'enabled', 'fast-check'] },
  });
  await setting('offline-replica-rebuilding', true);
  expect((await shown(volume)).get('offlineRebuilding')).toMatchObject({
    value: 'enabled',
    own: null,
    source: 'cluster',
    definition: { options: ['enabled', 'disabled'] },
  });
  await api.call('PATCH', path, { body: { offlineRebuilding: 'disabled', snapshotMaxCount: 7 } });
  const own = await shown(volume);
  expect(own.get('offlineRebuilding')).toMatchObject({
    value: 'disabled',
    own: 'disabled',
    source: 'volume',
    clusterValue: 'enabled',
  });
  expect(own.get('snapshotMaxCount')).toMatchObject({
    value: 7,
    own: 7,
    followWith: 0,
    definition: { min: 2, max: 250 },
  });
  for (const [name, { followWith }] of own) await api.call('PATCH', path, { body: { [name]: followWith } });
  for (const item of (await shown(volume)).values())
    expect(item).toMatchObject({ own: null, value: item.clusterValue });
});

test('a volume shows what its cluster says of its data engine', async () => {
  const [v1, v2] = [await api.createVolume(), await api.createVolume({ dataEngine: 'v2' })];
  const map = { v1: 'enabled', v2: 'disabled' };
  expect(await setting('snapshot-data-integrity', map)).toMatchObject({ status: 200 });
  const said = async (volume: Json) => (await shown(volume)).get('snapshotDataIntegrity');
  expect(await said(v1)).toMatchObject({ value: 'enabled', clusterValue: 'enabled', source: 'cluster' });
  expect(await said(v2)).toMatchObject({ value: 'disabled', clusterValue: 'disabled', source: 'cluster' });
  await api.call('PATCH', `${api.volumes}/${v2.id}`, { body: { snapshotDataIntegrity: 'fast-check' } });
  expect(await said(v2)).toMatchObject({ value: 'fast-check', own: 'fast-check', clusterValue: 'disabled' });
});

test('a volume says how fast its rebuilds may copy', async () => {
  const volume = await api.createVolume({ replicaRebuildingBandwidthLimit: 20 });
  const said = async () => (await shown(volume)).get('replicaRebuildingBandwidthLimit');
  expect(await said()).toMatchObject({ own: 20, value: 20, source: 'volume', clusterValue: 0 });
  await setting('replica-rebuilding-bandwidth-limit', '{"v1":"50"}');
  const path = `${api.volumes}/${volume.id}`;
  await api.call('PATCH', path, { body: { replicaRebuildingBandwidthLimit: 0 } });
  expect(await said()).toMatchObject({ own: null, value: 50, source: 'cluster', clusterValue: 50 });
  for (const replicaRebuildingBandwidthLimit of [-1, 100_001, 1.5])
    expect(await api.call('PATCH', path, { body: { replicaRebuildingBandwidthLimit } })).toMatchObject({
      status: 422,
    });
});

test('a volume refuses a failover of its cluster with -1, and no other count takes that', async () => {
  const volume = await api.createVolume({ failoverDelay: -1 });
  expect((await shown(volume)).get('failoverDelay')).toMatchObject({ own: -1, value: -1, source: 'volume' });
  const path = `${api.volumes}/${volume.id}`;
  for (const body of [{ failoverDelay: -2 }, { snapshotMaxCount: -1 }])
    expect(await api.call('PATCH', path, { body })).toMatchObject({ status: 422 });
});

/** They follow their cluster with 0, which other fields may be too. */
const COUNTS = [
  'failoverDelay',
  'snapshotMaxCount',
  'rebuildConcurrentSyncLimit',
  'replicaRebuildingBandwidthLimit',
];

test('every field that may follow the cluster is listed, and only those', async () => {
  const volume = await api.createVolume();
  const following = Object.entries(volume)
    .filter(([name, value]) => value === 'ignored' || COUNTS.includes(name))
    .map(([name]) => name);
  expect([...(await shown(volume)).keys()].sort()).toEqual(following.sort());
});

test('GraphQL shows the same', async () => {
  const volume = await api.createVolume({ snapshotMaxCount: 5 });
  const { body } = await api.graphql(
    `query($clusterId: ID!, $volumeId: ID!) { volumeSettings(clusterId: $clusterId, volumeId: $volumeId)
       { name value own source follows clusterValue followWith } }`,
    { volumeId: volume.id },
  );
  const rest = [...(await shown(volume)).values()].map(({ definition: _, ...item }) => item);
  expect(body.data.volumeSettings).toEqual(rest);
});

test('a setting says which volumes and which other clusters answer it for themselves, and the volumes are listed by that', async () => {
  const overrides = async (name: string) =>
    (await api.call('GET', `/clusters/${api.seed.clusterId}/settings/${name}`)).body.overrides;
  const stale = await api.call('GET', `${api.volumes}?filter=overrides=snapshotMaxCount`);
  for (const { id } of stale.body.items ?? [])
    await api.call('PATCH', `${api.volumes}/${id}`, { body: { snapshotMaxCount: 0 } });
  const listed = async (filter: string) => {
    const { body } = await api.call('GET', `${api.volumes}?filter=${encodeURIComponent(filter)}`);
    return (body.items ?? []).map(({ id }: Json) => id);
  };
  expect(await overrides('snapshot-max-count')).toEqual({
    volumes: { field: 'snapshotMaxCount', total: 0 },
    clusters: { total: 0, shown: [] },
  });
  const [counts, limits] = [
    await api.createVolume({ snapshotMaxCount: 20 }),
    await api.createVolume({ replicaRebuildingBandwidthLimit: 30, replicaSoftAntiAffinity: 'enabled' }),
  ];
  expect(await overrides('snapshot-max-count')).toMatchObject({ volumes: { total: 1 } });
  expect(await listed('overrides=snapshotMaxCount')).toEqual([counts.id]);
  expect(await listed('overrides=replicaRebuildingBandwidthLimit')).toEqual([limits.id]);
  expect(await listed('overrides in (snapshotMaxCount, replicaSoftAntiAffinity)')).toHaveLength(2);
  expect(await overrides('concurrent-rebuild-per-cluster-limit')).toMatchObject({ volumes: null });

  const { body: other } = await api.call('POST', '/clusters', { body: { name: 'other' } });
  await api.call('PUT', `/clusters/${other.id}/settings/snapshot-max-count`, { body: { value: 50 } });
  expect(await overrides('snapshot-max-count')).toMatchObject({
    clusters: { total: 1, shown: [{ id: other.id, name: 'other' }] },
  });
});
