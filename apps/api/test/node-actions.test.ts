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
