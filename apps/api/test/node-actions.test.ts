import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let nodeId: string;
let path: string;

beforeAll(async () => {
  api = await ApiFixture.start();
});
afterAll(() => api?.stop());

/** Which request comes first, and how far the other one is then, is chance. */
const ROUNDS = 8;

let count = 0;
beforeEach(async () => {
  count += 1;
  nodeId = await api.node(`node-${count}`, 'zone-a');
  path = `/clusters/${api.seed.clusterId}/nodes/${nodeId}`;
});

/** Types of the events about the node, the oldest first. */
async function told(): Promise<unknown[]> {
  const { rows } = await api.owner.query(
    `SELECT type FROM event WHERE subject_id = $1 AND type <> 'NodeReady' ORDER BY id`,
    [nodeId],
  );
  return rows.map(({ type }) => type);
}

describe('cordon and uncordon', () => {
  test('answer with the node as it is then, and are told once however often they are asked for', async () => {
    expect(await api.call('POST', `${path}/cordon`)).toMatchObject({
      status: 200,
      body: {
        cordoned: true,
        conditions: expect.arrayContaining([
          expect.objectContaining({
            type: 'Schedulable',
            status: 'False',
            reason: 'KubernetesNodeCordoned',
          }),
        ]),
      },
    });
    expect((await api.call('POST', `${path}/cordon`)).status).toBe(200);
    expect(await told()).toEqual(['NodeCordoned']);
    expect(await api.call('POST', `${path}/uncordon`)).toMatchObject({
      status: 200,
      body: { cordoned: false },
    });
    expect((await api.call('POST', `${path}/uncordon`)).status).toBe(200);
    expect(await told()).toEqual(['NodeCordoned', 'NodeUncordoned']);
  });

  test('are the same as a patch of the field', async () => {
    expect(await api.call('PATCH', path, { body: { cordoned: true } })).toMatchObject({ status: 200 });
    expect(await told()).toEqual(['NodeCordoned']);
    expect(await api.call('POST', `${path}/cordon`)).toMatchObject({ body: { cordoned: true } });
    expect(await told()).toEqual(['NodeCordoned']);
  });

  test('leave the version as it is when a patch, of a disk too, changes nothing', async () => {
    const set = { tags: ['ssd', 'fast'], allowScheduling: true, labels: { rack: '7' } };
    const [disk] = (await api.call('GET', `${path}/disks`)).body.items ?? [];
    const diskPath = `${path}/disks/${disk?.id}`;
    const { body: diskBefore } = await api.call('PATCH', diskPath, { body: set });
    // After its disk, whose changes count for the node's version too.
    const { body: before } = await api.call('PATCH', path, { body: set });
    const audited = async () => (await api.owner.query('SELECT FROM audit_entry')).rowCount;
    const [entries, events] = [await audited(), await told()];
    expect((await api.call('PATCH', path, { body: set })).body.version).toBe(before.version);
    expect((await api.call('PATCH', diskPath, { body: set })).body.version).toBe(diskBefore.version);
    expect([await audited(), await told()]).toEqual([entries, events]);
    // What differs counts, also beside what does not.
    const other = { ...set, tags: ['ssd'] };
    expect((await api.call('PATCH', path, { body: other })).body.version).toBe(Number(before.version) + 1);
  });

  test('are refused for a node that is not there, a version that is not its own and a body', async () => {
    const elsewhere = `/clusters/${api.seed.clusterId}/nodes/${randomUUID()}/cordon`;
    expect(await api.call('POST', elsewhere)).toMatchObject({
      status: 404,
      body: { code: 'node.not_found' },
    });
    expect(await api.call('POST', `${path}/cordon`, { headers: { 'if-match': '"999"' } })).toMatchObject({
      status: 412,
      body: { code: 'request.stale' },
    });
    expect(await api.call('POST', `${path}/cordon`, { body: { until: 1 } })).toMatchObject({ status: 422 });
    expect(await told()).toEqual([]);
  });
});

describe('a maintenance window', () => {
  const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();

  test('is shown until it is ended, and told at both ends', async () => {
    const until = inAnHour();
    const body = { until, reason: 'new disks' };
    const message = expect.stringMatching(/^the node is in maintenance until .* UTC: new disks$/);
    const opened = await api.call('POST', `${path}/maintenance`, { body });
    expect(opened).toMatchObject({ status: 200, body: { maintenance: body } });
    expect(opened.body.conditions).toContainEqual(
      expect.objectContaining({ type: 'Schedulable', status: 'False', reason: 'NodeMaintenance', message }),
    );
    expect(await api.call('GET', path)).toMatchObject({ body: { maintenance: body } });
    await api.call('POST', `${path}/maintenance`, { body });
    const later = { until: new Date(Date.now() + 7_200_000).toISOString() };
    expect(await api.call('POST', `${path}/maintenance`, { body: later })).toMatchObject({
      body: { maintenance: { ...later, reason: '' } },
    });
    expect(await api.call('POST', `${path}/end-maintenance`)).toMatchObject({
      status: 200,
      body: { maintenance: null },
    });
    expect((await api.call('POST', `${path}/end-maintenance`)).status).toBe(200);
    expect(await told()).toEqual([
      'NodeMaintenanceStarted',
      'NodeMaintenanceChanged',
      'NodeMaintenanceEnded',
    ]);
  });

  test.each([
    ['that ends before it begins', () => ({ until: new Date(Date.now() - 1000).toISOString() })],
    ['of more than a week', () => ({ until: new Date(Date.now() + 8 * 24 * 3_600_000).toISOString() })],
    ['without an end', () => ({ reason: 'new disks' })],
    ['with an end that is no time', () => ({ until: 'tomorrow' })],
  ])('%s is refused, and nothing is half-done', async (_, bodyOf) => {
    expect(await api.call('POST', `${path}/maintenance`, { body: bodyOf() })).toMatchObject({
      status: 422,
      body: { code: 'request.invalid', errors: [{ pointer: '/until' }] },
    });
    expect(await api.call('GET', path)).toMatchObject({ body: { maintenance: null } });
    expect(await told()).toEqual([]);
  });

  test('has mutations too', async () => {
    const until = inAnHour();
    const start = `mutation ($clusterId: ID!, $nodeId: ID!, $until: String!) {
      startNodeMaintenance(clusterId: $clusterId, nodeId: $nodeId, input: { until: $until }) { maintenance { until } } }`;
    const { body } = await api.graphql(start, { nodeId, until });
    expect(body).toEqual({ data: { startNodeMaintenance: { maintenance: { until } } } });
    const end = `mutation ($clusterId: ID!, $nodeId: ID!) {
      endNodeMaintenance(clusterId: $clusterId, nodeId: $nodeId) { maintenance { until } } }`;
    expect((await api.graphql(end, { nodeId })).body).toEqual({
      data: { endNodeMaintenance: { maintenance: null } },
    });
  });
});

describe('drain', () => {
  test('cordons the node and shows its policy; cancelling takes both back', async () => {
    expect(await api.call('POST', `${path}/drain`, { body: { policy: 'block-for-eviction' } })).toMatchObject(
      {
        status: 202,
        body: {
          cordoned: true,
          autoEvicting: true,
          drain: { policy: 'block-for-eviction', state: 'draining', waitingFor: [], waitingCount: 0 },
        },
      },
    );
    expect((await api.call('POST', `${path}/drain`, { body: { policy: 'block-for-eviction' } })).status).toBe(
      202,
    );
    expect(await api.call('POST', `${path}/cancel-drain`)).toMatchObject({
      status: 200,
      body: { cordoned: false, autoEvicting: false, drain: null },
    });
    expect(await told()).toEqual([
      'NodeCordoned',
      'NodeDrainStarted',
      'NodeUncordoned',
      'NodeDrainCancelled',
    ]);
  });

  test('without a policy follows the setting, and an uncordon ends it', async () => {
    expect(await api.call('POST', `${path}/drain`)).toMatchObject({
      body: { autoEvicting: false, drain: { policy: 'block-if-contains-last-replica' } },
    });
    expect(await api.call('POST', `${path}/uncordon`)).toMatchObject({ body: { drain: null } });
  });

  test('refuses a policy that there is not, by its field', async () => {
    expect(await api.call('POST', `${path}/drain`, { body: { policy: 'gently' } })).toMatchObject({
      status: 422,
      body: { code: 'request.invalid', errors: [{ pointer: '/policy' }] },
    });
  });

  test('of the last two nodes with copies is accepted for one of them, however close the two requests are', async () => {
    const other = await api.node('the-other', 'zone-b');
    const nodes = `/clusters/${api.seed.clusterId}/nodes`;
    const { body } = await api.call('GET', nodes);
    const rest = (body.items ?? []).filter(({ id }) => id !== nodeId && id !== other);
    for (const { id } of rest) await api.call('POST', `${nodes}/${id}/cordon`);
    await api.createVolume({ name: 'on-both', numberOfReplicas: 2 });
    const pair = [nodeId, other];
    const emptied = { body: { allowScheduling: false, evictionRequested: true } };
    const filled = { body: { allowScheduling: true, evictionRequested: false } };
    for (let round = 0; round < ROUNDS; round += 1) {
      const drained = await Promise.all(pair.map((id) => api.call('POST', `${nodes}/${id}/drain`)));
      expect(drained.map(({ status }) => status).sort()).toEqual([202, 409]);
      expect(drained.map((answer) => answer.body.code)).toContain('node.last_ready');
      for (const id of pair) await api.call('POST', `${nodes}/${id}/cancel-drain`);
      const patched = await Promise.all(pair.map((id) => api.call('PATCH', `${nodes}/${id}`, emptied)));
      expect(patched.map(({ status }) => status).sort()).toEqual([200, 409]);
      for (const id of pair) await api.call('PATCH', `${nodes}/${id}`, filled);
    }
    for (const { id } of rest) await api.call('POST', `${nodes}/${id}/uncordon`);
  });

  test('is planned without changing anything, in REST and in GraphQL', async () => {
    const want = { policy: 'always-allow', isPossible: true, replicasToMove: 0, volumes: [], time: null };
    expect(await api.call('POST', `${path}/drain-plan`, { body: { policy: 'always-allow' } })).toMatchObject({
      status: 200,
      body: want,
    });
    for (const policy of ['block-if-contains-last-replica', 'allow-if-replica-is-stopped'])
      expect((await api.call('POST', `${path}/drain-plan`, { body: { policy } })).body.policy).toBe(policy);
    const query = `query ($clusterId: ID!, $nodeId: ID!) {
      drainPlan(clusterId: $clusterId, nodeId: $nodeId, input: { policy: "always-allow" }) { isPossible volumeCount } }`;
    const { body } = await api.graphql(query, { clusterId: api.seed.clusterId, nodeId });
    expect(body).toEqual({ data: { drainPlan: { isPossible: true, volumeCount: 0 } } });
    expect(await api.call('GET', path)).toMatchObject({ body: { cordoned: false, drain: null } });
    expect(await told()).toEqual([]);
  });
});

describe('a node that is gone for good', () => {
  test('is forgotten once it does not answer: its certificate is revoked in the same commit', async () => {
    expect(await api.call('POST', `${path}/forget`, { body: {} })).toMatchObject({
      status: 409,
      body: { code: 'node.in_use' },
    });
    const silent = { type: 'Ready', status: 'False', reason: '', message: '', lastTransitionAt: new Date() };
    await api.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [
      nodeId,
      JSON.stringify([silent]),
    ]);
    await api.owner.query(
      `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
       SELECT id, organization_id, cluster_id, name, id::text, now(), now() FROM node WHERE id = $1 ON CONFLICT DO NOTHING`,
      [nodeId],
    );
    expect(await api.call('POST', `${path}/forget`, { body: {} })).toMatchObject({
      status: 202,
      body: { forget: { acceptedLosses: [] } },
    });
    const { rows } = await api.owner.query('SELECT revoked_at FROM node_identity WHERE node_id = $1', [
      nodeId,
    ]);
    expect(rows).toEqual([{ revoked_at: expect.any(Date) }]);
    expect(await told()).toEqual(['NodeForgetRequested']);
  });
});
