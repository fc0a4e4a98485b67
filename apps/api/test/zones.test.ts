/** Zones of a cluster through the whole API: a picture of many nodes comes from sums, and its details from lists in a useful order. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let nodes: string[];

beforeAll(async () => {
  api = await ApiFixture.start();
  nodes = [];
  for (const [name, zone] of Object.entries({ n1: 'east', n2: 'east', n3: 'east', n4: 'west', n5: 'west' }))
    nodes.push(await api.node(name, zone));
  await api.createVolume({ name: 'v', size: 2 ** 30, numberOfReplicas: 2 });
  await api.owner.query('UPDATE node SET cordoned = true WHERE id = $1', [nodes[1]]);
  await api.owner.query(`UPDATE node SET region = 'north' WHERE zone = 'west'`);
  await api.owner.query(`UPDATE node SET zone = NULL, region = NULL, conditions = '[]' WHERE id = $1`, [
    nodes[4],
  ]);
});
afterAll(() => api?.stop());

async function items(path: string): Promise<Json[]> {
  const { body } = await api.call('GET', `/clusters/${api.seed.clusterId}${path}`);
  // Checked by what is expected of them.
  return body.items as Json[];
}

const names = (found: readonly Json[]) => found.map(({ name }) => name);

describe('the zones of a cluster', () => {
  test('count each node once, by how it stands', async () => {
    const none = { unanswering: 0, draining: 0, drained: 0, inMaintenance: 0, closed: 0 };
    expect((await items('/zones')).map(({ zone, region, nodes: counts }) => [zone, region, counts])).toEqual([
      [null, null, { ...none, total: 1, notReady: 1, cordoned: 0, open: 0 }],
      ['east', null, { ...none, total: 3, notReady: 0, cordoned: 1, open: 2 }],
      ['west', 'north', { ...none, total: 1, notReady: 0, cordoned: 0, open: 1 }],
    ]);
  });

  test('sum up to what the nodes say', async () => {
    const zones = await items('/zones');
    const listed = await items('/nodes');
    const sum = (rows: readonly Json[], pick: (row: never) => number) =>
      rows.reduce((total, row) => total + pick(row as never), 0);
    const scheduled = ({ storage }: { storage: { scheduled: number } }) => storage.scheduled;
    expect(sum(zones, scheduled)).toBe(2 * 2 ** 30);
    expect(sum(zones, scheduled)).toBe(sum(listed, scheduled));
    expect(sum(zones, ({ disks }: { disks: number }) => disks)).toBe(5);
    expect(sum(zones, ({ replicas }: { replicas: { total: number } }) => replicas.total)).toBe(2);
  });

  test('count replicas on a silent node as silent, whatever else is known of them', async () => {
    await api.owner.query(`UPDATE replica SET node_id = $1, failed_at = now()`, [nodes[4]]);
    const [unlabelled] = await items('/zones');
    expect(unlabelled?.replicas).toEqual({ total: 2, silent: 2, failed: 0, rebuilding: 0 });
    await api.owner.query(`UPDATE replica SET node_id = $1`, [nodes[2]]);
    const [, east] = await items('/zones');
    expect(east?.replicas).toEqual({ total: 2, silent: 0, failed: 2, rebuilding: 0 });
  });

  test('come by pages, and by a filter', async () => {
    expect(await items('/zones?limit=1')).toHaveLength(1);
    expect((await items('/zones?filter=region=north')).map(({ zone }) => zone)).toEqual(['west']);
  });
});

describe('a list of nodes or disks', () => {
  test('has a silent node first by its risk, then one that takes no replicas', async () => {
    expect(names(await items('/nodes?sort=-risk,name'))).toEqual(['n5', 'n2', 'n1', 'n3', 'n4']);
    expect(names(await items(`/nodes?filter=${encodeURIComponent('risk>0')}`))).toEqual(['n2', 'n5']);
  });

  test('has first what is promised the most, page after page', async () => {
    await api.owner.query(
      `UPDATE disk SET storage_scheduled_bytes = storage_maximum_bytes / 2 WHERE node_id = $1`,
      [nodes[2]],
    );
    const [fullest] = await items('/disks?sort=-promisedPercent&limit=1');
    expect(fullest?.nodeId).toBe(nodes[2]);
    const path = `/clusters/${api.seed.clusterId}/nodes?sort=-promisedPercent,name&limit=3`;
    const { body } = await api.call('GET', path);
    const { body: rest } = await api.call('GET', `${path}&cursor=${String(body.nextCursor)}`);
    const all = [...(body.items as Json[]), ...(rest.items as Json[])];
    expect(names(all)[0]).toBe('n3');
    expect(names(all).sort()).toEqual(['n1', 'n2', 'n3', 'n4', 'n5']);
  });

  test.each([
    ['tags=ssd', ['n2', 'n3']],
    ['tags!=ssd', ['n1', 'n4', 'n5']],
    ['tags in (rack-7, hdd)', ['n3', 'n4']],
    ['tags=rack-*', ['n3']],
    ['tags!=s*', ['n1', 'n4', 'n5']],
  ])('finds nodes by their tags: %s', async (filter, found) => {
    const tags = { n2: ['ssd'], n3: ['rack-7', 'ssd'], n4: ['hdd'] };
    for (const [name, values] of Object.entries(tags))
      await api.owner.query('UPDATE node SET tags = $2 WHERE name = $1', [name, values]);
    expect(names(await items(`/nodes?sort=name&filter=${encodeURIComponent(filter)}`))).toEqual(found);
  });

  test('is not sorted by tags, of which a node may have several', async () => {
    const { status, body } = await api.call('GET', `/clusters/${api.seed.clusterId}/nodes?sort=tags`);
    expect([status, body.code]).toEqual([422, 'request.invalid']);
  });
});
