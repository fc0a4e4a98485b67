import { randomUUID } from 'node:crypto';
import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let simulate: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) await api.node(`node-${zone}`, `zone-${zone}`);
  simulate = `/clusters/${api.seed.clusterId}/placements/simulate`;
});
afterAll(() => api?.stop());

async function graphql(query: string, variables: object): Promise<Json> {
  const { body } = await api.send({
    method: 'POST',
    url: '/graphql',
    headers: { authorization: `Bearer ${api.seed.token}` },
    payload: { query, variables },
  });
  const { data, errors } = JSON.parse(body);
  expect(errors).toBeUndefined();
  return data;
}

describe('explaining a volume', () => {
  const withoutTime = (body: unknown) =>
    JSON.parse(JSON.stringify(body).replaceAll(/"at":"[^"]*"/g, '"at":""'));

  test('says where its copies are and where one more would go', async () => {
    const volume = await api.createVolume({ name: 'placed' });
    const { status, body } = await api.call('GET', `${api.volumes}/${volume.id}/explain`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      sentence: 'All 3 replicas of placed have a place.',
      replicas: Array(3).fill({ explanation: { outcome: 'placed', cures: [] }, recorded: null }),
      next: { outcome: 'unplaced', replicaId: null, cures: expect.any(Array) },
      recorded: null,
    });
  });

  test('says why a copy has no place, what would cure it, and what was found when it was made', async () => {
    const volume = await api.createVolume({ name: 'large', size: TIB });
    const address = `${api.volumes}/${volume.id}/explain`;
    const { body } = await api.call('GET', address);
    const recorded = Object(body.items ?? body.replicas)[0].recorded;
    expect(body.sentence).toMatch(/^0 of 3 replicas of large have a place. No disk can take this replica/);
    expect(recorded).toMatchObject({ outcome: 'unplaced', filters: expect.any(Array) });
    expect(Object(recorded).cures[0]).toMatchObject({
      sentence: expect.any(String),
      changes: [expect.any(Object)],
    });
    const [condition] = Object(volume).conditions;
    expect(condition.message).toContain(Object(recorded).sentence);
    expect(withoutTime((await api.call('POST', address)).body)).toEqual(withoutTime(body));
  });

  test('answers the same in GraphQL', async () => {
    const volume = await api.createVolume({ size: TIB });
    const query = `query ($c: ID!, $v: ID!) { explainVolume(clusterId: $c, volumeId: $v) {
      sentence replicas { recorded { sentence } } next { filters { name rejected rejections { nodeName numbers { requiredBytes } } }
        cures { sentence changes { kind setting to bytes } } } } }`;
    const { explainVolume } = await graphql(query, { c: api.seed.clusterId, v: volume.id });
    const { body } = await api.call('GET', `${api.volumes}/${volume.id}/explain`);
    const next = Object(body.next);
    expect(explainVolume).toMatchObject({
      sentence: body.sentence,
      replicas: Array(3).fill({ recorded: { sentence: next.sentence } }),
      next: { cures: next.cures.map(({ sentence }: Json) => ({ sentence })) },
    });
  });
});

describe('simulating', () => {
  const shape = { count: 2, size: GIB };

  test('places volumes, loses and adds places, and changes nothing', async () => {
    await api.createVolume({ name: 'existing' });
    const before = await everyRow();
    const body = {
      volumes: [shape, { count: 1, size: TIB, replicaZoneSoftAntiAffinity: 'disabled' }],
      lose: { zones: ['zone-a'] },
      add: { nodes: [{ name: 'new', zone: 'zone-d', disks: [{ size: TIB, reserved: GIB }], count: 2 }] },
      settings: { 'storage-over-provisioning-percentage': 200 },
      howManyMore: true,
    };
    const answer = await api.call('POST', simulate, { body });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      allFit: false,
      shapes: [
        { asked: 2, fit: 2, firstFailure: null, howManyMore: { count: expect.any(Number) } },
        { asked: 1, fit: 0, firstFailure: { volumeNumber: 1, explanation: { outcome: 'unplaced' } } },
      ],
      existing: { volumesHit: expect.any(Number), replaced: { shown: expect.any(Array) } },
      lost: { nodes: 1, disks: 1 },
    });
    const { replaced } = Object(answer.body.existing);
    expect(JSON.stringify(replaced)).toContain('existing');
    expect(await everyRow()).toEqual(before);
  });

  test('adds disks to nodes that are there, of the size that is sent and less what is reserved', async () => {
    const capacity = async (add?: Json) => {
      const { body } = await api.call('POST', simulate, { body: add === undefined ? {} : { add } });
      const [zone] = Object(body).zones;
      return zone.after.capacityBytes;
    };
    const before = await capacity();
    const disk = { node: 'node-a', size: 3 * GIB, reserved: GIB };
    expect((await capacity({ disks: [disk, { ...disk, count: 2 }] })) - before).toBe(6 * GIB);
  });

  test('says how long a drain takes and what becomes of each volume, in REST as in GraphQL', async () => {
    const volume = await api.createVolume({ name: 'moving', numberOfReplicas: 1, size: GIB });
    await api.owner.query(
      `UPDATE replica SET healthy_at = now(), last_healthy_at = now(), provisioned = true WHERE volume_id = $1`,
      [volume.id],
    );
    await api.owner.query(`UPDATE volume SET state = 'detached', robustness = 'healthy' WHERE id = $1`, [
      volume.id,
    ]);
    const { rows } = await api.owner.query(
      'SELECT n.name FROM replica r JOIN node n ON n.id = r.node_id WHERE r.volume_id = $1',
      [volume.id],
    );
    const drain = [{ node: rows[0].name, policy: 'block-for-eviction' }];
    const { status, body } = await api.call('POST', simulate, { body: { drain } });
    expect(status).toBe(200);
    const { forecast } = Object(body);
    expect(forecast).toMatchObject({
      time: { lowSeconds: expect.any(Number), basis: 'assumed' },
      lowWater: { copies: expect.any(Number), volumes: expect.any(Number) },
      isCut: false,
    });
    expect(forecast.volumes.shown).toContainEqual(
      expect.objectContaining({ volumeName: 'moving', end: 'full', copiesNow: 1, copiesAtLowest: 1 }),
    );
    const query = `query ($c: ID!, $input: SimulateInput!) { simulatePlacements(clusterId: $c, input: $input) {
      forecast { rebuilds bytesToMove volumesLost time { lowSeconds p50Seconds p90Seconds } } } }`;
    const input = { drain };
    const { simulatePlacements } = await graphql(query, { c: api.seed.clusterId, input });
    expect(Object(simulatePlacements).forecast).toMatchObject({
      rebuilds: forecast.rebuilds,
      bytesToMove: forecast.bytesToMove,
      volumesLost: 0,
    });
  });

  test.each([
    [{ drain: [{ node: 'nowhere' }] }, '/drain/0/node'],
    [{ lose: { zones: ['zone-x'] } }, '/lose/zones/0'],
    [
      { settings: { 'concurrent-replica-rebuild-per-node-limit': -1 } },
      '/settings/concurrent-replica-rebuild-per-node-limit',
    ],
    [{ lose: { nodes: Array.from({ length: 10_000 }, () => 'n') } }, '/lose/nodes'],
    [{ drain: Array.from({ length: 10_000 }, () => ({ node: 'n' })) }, '/drain'],
    [{ add: { disks: [{ node: 'node-a', size: -1 }] } }, '/add/disks/0/size'],
  ])('names the entry that is wrong, case %#', async (body, pointer) => {
    const answer = await api.call('POST', simulate, { body });
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
    expect(Object(answer.body).errors).toContainEqual(expect.objectContaining({ pointer }));
  });

  test('asks for nothing and is answered', async () => {
    expect(await api.call('POST', simulate)).toMatchObject({
      status: 200,
      body: { allFit: true, shapes: [] },
    });
  });

  test.each([
    ['a negative size', { volumes: [{ ...shape, size: -GIB }] }, '/volumes/0/size'],
    ['a part of a byte', { volumes: [{ ...shape, size: GIB + 0.5 }] }, '/volumes/0/size'],
    ['a million volumes', { volumes: [{ ...shape, count: 1_000_000 }] }, '/volumes/0/count'],
    ['too many in all', { volumes: [shape, { ...shape, count: 10_000 }] }, '/volumes'],
    ['too many kinds', { volumes: Array(51).fill(shape) }, '/volumes'],
    ['no replicas', { volumes: [{ ...shape, numberOfReplicas: 0 }] }, '/volumes/0/numberOfReplicas'],
    ['an unknown field', { volumes: [{ ...shape, colour: 'red' }] }, '/volumes/0/colour'],
    ['an unknown node', { lose: { nodes: ['node-a', 'no-such-node'] } }, '/lose/nodes/1'],
    ['an unknown zone', { lose: { zones: ['nowhere'] } }, '/lose/zones/0'],
    ['an unknown disk', { lose: { disks: ['node-a/none'] } }, '/lose/disks/0'],
    ['a node that is there', { add: { nodes: [{ name: 'node-a', disks: [] }] } }, '/add/nodes/0/name'],
    [
      'a disk of no size',
      { add: { nodes: [{ name: 'x', disks: [{ size: 0 }] }] } },
      '/add/nodes/0/disks/0/size',
    ],
    ['a disk of less than nothing', { add: { disks: [{ node: 'node-a', size: -1 }] } }, '/add/disks/0/size'],
    [
      'a disk for an unknown node',
      { add: { disks: [{ node: 'no-such-node', size: GIB }] } },
      '/add/disks/0/node',
    ],
    ['an unknown setting', { settings: { nonsense: 1 } }, '/settings/nonsense'],
    ['a wrong value', { settings: { 'balance-alpha': 7 } }, '/settings/balance-alpha'],
  ])('refuses %s and points at it', async (_name, body, pointer) => {
    const answer = await api.call('POST', simulate, { body });
    expect(answer).toMatchObject({ status: 422, body: { code: 'request.invalid' } });
    expect(Object(answer.body.errors).map((item: Json) => item.pointer)).toContain(pointer);
  });

  test('is for operators', async () => {
    const [viewer, operator] = [await api.tokenOfRole('viewer'), await api.tokenOfRole('operator')];
    expect(await api.call('POST', simulate, { token: viewer })).toMatchObject({
      status: 403,
      body: { code: 'auth.forbidden' },
    });
    expect((await api.call('POST', simulate, { token: operator })).status).toBe(200);
  });

  test('answers the same in GraphQL', async () => {
    const query = `query ($c: ID!, $i: SimulateInput!) { simulatePlacements(clusterId: $c, input: $i) {
      allFit sentence shapes { fit placed { places { nodeName } } } } }`;
    const input = { volumes: [shape], settings: { 'balance-alpha': 0.5 } };
    const { simulatePlacements } = await graphql(query, { c: api.seed.clusterId, i: input });
    const { body } = await api.call('POST', simulate, { body: input });
    const { allFit, sentence } = body;
    expect(simulatePlacements).toMatchObject({ allFit, sentence, shapes: [{ fit: 2 }] });
  });
});

describe("another organization's volumes and clusters", () => {
  test('can be neither simulated on nor seen', async () => {
    const other = await api.otherTenant();
    expect(await api.call('POST', simulate, { token: other.token })).toMatchObject({
      status: 404,
      body: { code: 'cluster.not_found' },
    });
    const theirs = `/clusters/${other.clusterId}/placements/simulate`;
    expect((await api.call('POST', theirs)).status).toBe(404);
    expect((await api.call('POST', theirs, { token: other.token })).status).toBe(200);

    // A volume of theirs that stands on our disks: it takes space there, and nothing more is told of it.
    const ours = await api.createVolume({ name: 'our-name' });
    const moved = await api.owner.query(
      `UPDATE volume SET organization_id = $2, name = 'their-secret-name' WHERE id = $1`,
      [(await api.createVolume()).id, other.organizationId],
    );
    expect(moved.rowCount).toBe(1);
    const answer = await api.call('POST', simulate, {
      body: { lose: { nodes: ['node-b'] }, howManyMore: true },
    });
    const text = JSON.stringify(answer.body);
    expect(text).toContain('our-name');
    expect(text).not.toContain('their-secret-name');
    const explained = await api.call('GET', `${api.volumes}/${ours.id}/explain`);
    expect(JSON.stringify(explained.body)).not.toContain('their-secret-name');
  });
});

describe('a fleet whose rows are broken', () => {
  test('places nothing, and the answer names the object', async () => {
    const other = await api.otherTenant();
    const node = randomUUID();
    await api.owner.query(
      `INSERT INTO node (id, organization_id, cluster_id, name, created_at)
       SELECT $1, organization_id, $2, 'elsewhere', now() FROM cluster WHERE id = $3`,
      [node, other.clusterId, api.seed.clusterId],
    );
    const broken = randomUUID();
    await api.owner.query(
      `INSERT INTO disk (id, organization_id, cluster_id, node_id, name, path, type, storage_maximum_bytes,
         storage_available_bytes, created_at)
       SELECT $1, organization_id, id, $2, 'stray', '/', 'filesystem', 1, 1, now() FROM cluster WHERE id = $3`,
      [broken, node, api.seed.clusterId],
    );
    const problem = {
      status: 500,
      body: { code: 'fleet.inconsistent', detail: expect.stringContaining(broken) },
    };
    expect(await api.call('POST', simulate)).toMatchObject(problem);
    await api.owner.query('DELETE FROM disk WHERE id = $1', [broken]);
    expect((await api.call('POST', simulate)).status).toBe(200);
  });
});

test('a drain of the last node is refused by its plan, by a what-if and by itself, and each says what would cure it', async () => {
  await api.createVolume({ name: 'held', numberOfReplicas: 3 });
  const nodes = `/clusters/${api.seed.clusterId}/nodes`;
  const { body } = await api.call('GET', nodes);
  const [first, ...others] = body.items ?? [];
  for (const other of others) await api.call('POST', `${nodes}/${other.id}/cordon`);
  const before = await everyRow();
  for (const action of ['drain', 'drain-plan'])
    expect(await api.call('POST', `${nodes}/${first?.id}/${action}`)).toMatchObject({
      status: 409,
      body: {
        code: 'node.last_ready',
        detail: expect.stringContaining('with policy block-if-contains-last-replica'),
        cures: [expect.stringContaining('uncordon one'), expect.stringContaining('always-allow')],
      },
    });
  expect(await api.call('POST', simulate, { body: { drain: [{ node: first?.name }] } })).toMatchObject({
    status: 422,
    body: { errors: [{ pointer: '/drain/0', detail: expect.stringContaining('no other node is ready') }] },
  });
  const dry = await api.call('POST', `${nodes}/${first?.id}/drain?dryRun=true`);
  expect(dry).toMatchObject({ body: { code: 'node.last_ready' } });
  expect(await everyRow()).toEqual(before);
  const allowed = { policy: 'always-allow' };
  expect(await api.call('POST', `${nodes}/${first?.id}/drain`, { body: allowed })).toMatchObject({
    status: 202,
  });
});

/** Everything that a placement could have changed. Refused requests are audited a second later, which is no change. */
async function everyRow(): Promise<unknown> {
  const tables = [
    'volume',
    'replica',
    'disk',
    'node',
    'setting',
    'event',
    'outbox',
    'audit_entry',
    'cluster',
  ];
  return Promise.all(
    tables.map(async (table) => {
      const changes = table === 'audit_entry' ? `WHERE result <> 'refused'` : '';
      return (await api.owner.query(`SELECT xmin, * FROM ${table} ${changes} ORDER BY ctid`)).rows;
    }),
  );
}
