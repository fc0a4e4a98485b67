/** Moving a copy over HTTP and GraphQL, the plan beforehand, and the plan of a change of a volume. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

type Copy = { id: string; nodeId: string; diskId: string; relocation: Json | null };

let api: ApiFixture;
const nodes: Record<string, string> = {};
let volume: Json;
let copies: Copy[];
let free: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c', 'd']) nodes[zone] = await api.node(`node-${zone}`, `zone-${zone}`);
});
afterAll(() => api?.stop());

beforeEach(async () => {
  volume = await api.createAttachedVolume(nodes.a ?? '');
  await api.owner.query(`UPDATE volume SET robustness = 'healthy' WHERE id = $1`, [volume.id]);
  await api.owner.query(
    `UPDATE replica SET healthy_at = now(), provisioned = true, mode = 'RW' WHERE volume_id = $1`,
    [volume.id],
  );
  copies = copiesOf(await read());
  free = Object.values(nodes).find((id) => copies.every(({ nodeId }) => nodeId !== id)) ?? '';
});

const read = async () => (await api.call('GET', `${api.volumes}/${volume.id}`)).body;
const ask = (path: string, body: Json = {}) =>
  api.call('POST', `${api.volumes}/${volume.id}/${path}`, { body });
const first = () => copies[0] ?? { id: '', nodeId: '', diskId: '', relocation: null };

function copiesOf({ replicas }: Json): Copy[] {
  // The fields that these tests read of a replica, as the API's schema has them.
  return replicas as Copy[];
}

describe('a move', () => {
  test('is planned without a change, and then begun: the replacement is booked, and the copy stays', async () => {
    const plan = await ask(`replicas/${first().id}/move-plan`, { nodeId: free });
    expect(plan).toMatchObject({
      status: 200,
      body: { isPossible: true, refusal: null, from: { diskId: first().diskId }, to: { nodeId: free } },
    });
    expect(copiesOf(await read())).toHaveLength(3);

    const answer = await ask(`replicas/${first().id}/move`, { nodeId: free });
    expect(answer.status).toBe(202);
    const moved = copiesOf(answer.body).find(({ nodeId }) => nodeId === free);
    expect(moved?.relocation).toMatchObject({ reason: 'requested', replacesReplicaId: first().id });
    expect(copiesOf(answer.body)).toHaveLength(4);

    expect((await ask(`replicas/${first().id}/move`, { nodeId: free })).status).toBe(202);
    expect(copiesOf(await read())).toHaveLength(4);
  });

  test('goes by the same rules in GraphQL', async () => {
    const query = `mutation($clusterId: ID!, $volumeId: ID!, $replicaId: ID!, $input: MoveReplicaInput!) {
      moveReplica(clusterId: $clusterId, volumeId: $volumeId, replicaId: $replicaId, input: $input) {
        replicas { nodeId relocation { reason } }
      }
    }`;
    const asked = { volumeId: volume.id, replicaId: first().id };
    const moved = await api.graphql(query, { ...asked, input: { nodeId: free } });
    expect(moved.body).toMatchObject({ data: { moveReplica: { replicas: expect.any(Array) } } });
    const again = await api.graphql(query, { ...asked, input: { nodeId: copies[1]?.nodeId } });
    expect(JSON.stringify(again.body)).toContain('volume.busy');
  });

  test.each<{ name: string; wish: () => Json; status: number; code: string }>([
    { name: 'unknown node', wish: () => ({ nodeId: randomUUID() }), status: 404, code: 'node.not_found' },
    { name: 'unknown disk', wish: () => ({ diskId: randomUUID() }), status: 404, code: 'disk.not_found' },
    { name: 'own disk', wish: () => ({ diskId: first().diskId }), status: 409, code: 'replica.place_taken' },
    {
      name: "another copy's node",
      wish: () => ({ nodeId: copies[1]?.nodeId }),
      status: 409,
      code: 'replica.place_taken',
    },
  ])('to its $name is refused, in the plan too', async ({ wish, status, code }) => {
    const refused = await ask(`replicas/${first().id}/move`, wish());
    expect(refused).toMatchObject({ status, body: { code } });
    const plan = await ask(`replicas/${first().id}/move-plan`, wish());
    if (status === 404) expect(plan).toMatchObject({ status, body: { code } });
    else expect(plan.body).toMatchObject({ isPossible: false, to: null, refusal: { code } });
    expect(copiesOf(await read())).toHaveLength(3);
  });

  test('is refused for a replica that is not there, and for a volume whose copies were never made', async () => {
    expect(await ask(`replicas/${randomUUID()}/move`)).toMatchObject({
      status: 404,
      body: { code: 'replica.not_found' },
    });
    volume = await api.createVolume();
    await api.owner.query(`UPDATE replica SET healthy_at = now(), provisioned = true WHERE volume_id = $1`, [
      volume.id,
    ]);
    const [copy] = copiesOf(await read());
    expect(await ask(`replicas/${copy?.id}/move`)).toMatchObject({
      status: 409,
      body: { code: 'volume.busy' },
    });
  });

  test('names each disk that it could go to, and why not to the others', async () => {
    const { body } = await ask(`replicas/${first().id}/move-plan`);
    const candidates = body.candidates as Json[];
    expect(candidates).toHaveLength(4);
    expect(candidates[0]).toMatchObject({ nodeId: free, isPossible: true, reason: null });
    expect(
      candidates
        .slice(1)
        .map(({ reason }) => reason)
        .sort(),
    ).toEqual(['CopyIsThere', 'NodeOccupied', 'NodeOccupied']);
  });
});

describe('the plan of a change', () => {
  test('names the copy that goes when the count is lowered, and changes nothing', async () => {
    const { status, body } = await ask('patch-plan', { numberOfReplicas: 2 });
    expect(status).toBe(200);
    const removes = body.removes as Json[];
    expect(removes).toHaveLength(1);
    expect(copies.map(({ id }) => id)).toContain(removes[0]?.replicaId);
    expect(body.sentence).toMatch(/^the copy on node-\w \(disk [\w-]+\) goes/);
    expect(await read()).toMatchObject({ numberOfReplicas: 3, generation: 1 });
  });

  test('keeps the last copy, says how many are added, and which would not match', async () => {
    const lowered = (await ask('patch-plan', { numberOfReplicas: 1 })).body;
    expect(lowered.removes).toHaveLength(2);
    expect((await ask('patch-plan', { numberOfReplicas: 5 })).body).toMatchObject({ removes: [], adds: 2 });
    const selected = (await ask('patch-plan', { nodeSelector: ['ssd'] })).body;
    expect(selected.unfit).toHaveLength(3);
    expect((await ask('patch-plan', {})).body).toMatchObject({ sentence: 'its copies stay as they are' });
  });

  test('is refused as the change would be', async () => {
    const strict = { dataLocality: 'strict-local', numberOfReplicas: 1 };
    expect(await ask('patch-plan', strict)).toMatchObject({ status: 409, body: { code: 'volume.attached' } });
    const patched = await api.call('PATCH', `${api.volumes}/${volume.id}`, { body: strict });
    expect(patched).toMatchObject({ status: 409, body: { code: 'volume.attached' } });
  });
});
