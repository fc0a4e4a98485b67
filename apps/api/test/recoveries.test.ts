/** Recoveries over HTTP: the plan, its refusals, and a volume that is made again of an orphan, with its audit entry. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { makeOneOfEach } from './one-of-each.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;
let place: { nodeId: string; diskId: string };

beforeAll(async () => {
  api = await OwnApi.begin();
  const { nodeId = '', diskId = '' }: Readonly<Record<string, string>> = await makeOneOfEach(api);
  place = { nodeId, diskId };
});
afterAll(() => api?.stop());

const at = (rest = '') => `/clusters/${api.seed.clusterId}/recoveries${rest}`;

/** A copy of a volume that the database does not know, as its agent has described it. */
async function orphanOf(volumeId: string, clusterId: string, others: string[] = []): Promise<string> {
  const replicaId = randomUUID();
  const record = { epoch: 4, dataGeneration: 2, members: [replicaId, ...others] };
  const { organizationId, projectId } = api.seed;
  const volume = {
    ...{ name: `lost-${volumeId.slice(0, 8)}`, clusterId, organizationId, projectId },
    ...{ numberOfReplicas: 1, dataLocality: 'disabled', nodeSelector: [], diskSelector: [] },
  };
  const description = {
    ...{ volumeId, diskId: place.diskId, sizeBytes: 2 ** 20, epoch: 4, grantId: null },
    ...{ isRebuildTarget: false, secret: 'the key of the lost copy', volume },
  };
  await api.owner.query(
    `INSERT INTO orphan (id, organization_id, cluster_id, node_id, disk_id, replica_id, volume_id, written_bytes, record,
       described_with_secret, first_seen_at, announced_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, 4096, $8, $9, now(), now())`,
    [
      ...[randomUUID(), organizationId, api.seed.clusterId, place.nodeId, place.diskId, replicaId, volumeId],
      ...[JSON.stringify(record), JSON.stringify(description)],
    ],
  );
  return replicaId;
}

test('a lost volume is shown without its key, recovered once, and asked again nothing changes', async () => {
  const volumeId = randomUUID();
  const replicaId = await orphanOf(volumeId, api.seed.clusterId);
  const plan = await api.call('GET', at());
  expect(plan.status).toBe(200);
  expect(JSON.stringify(plan.body)).not.toContain('the key of the lost copy');
  expect(plan.body.items).toContainEqual(
    expect.objectContaining({
      volumeId,
      obstacle: null,
      copies: [expect.objectContaining({ verdict: 'current' })],
    }),
  );
  const made = await api.call('POST', at(`/${volumeId}`), { body: {} });
  expect([made.status, made.body]).toEqual([
    200,
    expect.objectContaining({
      id: volumeId,
      size: 2 ** 20,
      replicas: [expect.objectContaining({ id: replicaId })],
    }),
  ]);
  const again = await api.call('POST', at(`/${volumeId}`), { body: {} });
  expect([again.status, again.body.version]).toEqual([200, made.body.version]);
});

test('one of another cluster, one that misses a member and an unknown one are refused with the cure', async () => {
  const [foreign, torn] = [randomUUID(), randomUUID()];
  await orphanOf(foreign, randomUUID());
  const refused = await api.call('POST', at(`/${foreign}`), { body: {} });
  expect([refused.status, refused.body.code, JSON.stringify(refused.body)]).toEqual([
    409,
    'recovery.refused',
    expect.stringContaining('--from-cluster'),
  ]);
  const absent = randomUUID();
  await orphanOf(torn, api.seed.clusterId, [absent]);
  expect((await api.call('POST', at(`/${torn}`), { body: {} })).body.code).toBe('recovery.refused');
  const consent = { body: { acceptsMissing: true } };
  expect(await api.call('POST', at(`/${torn}`), consent)).toMatchObject({ status: 200, body: { id: torn } });
  const unknown = await api.call('POST', at(`/${randomUUID()}`), { body: {} });
  expect([unknown.status, unknown.body.code]).toEqual([404, 'recovery.not_found']);
});
