import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';

let api: ApiFixture;
let volumeId: string;
let copies: string[];
let path: string;
const RECORD = { epoch: 3, dataGeneration: 1 };

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const [name, zone] of [
    ['node-1', 'zone-a'],
    ['node-2', 'zone-b'],
  ] as const) {
    await api.node(name, zone);
  }
  const volume = await api.createVolume({ numberOfReplicas: 2 });
  volumeId = String(volume.id);
  copies = (Array.isArray(volume.replicas) ? volume.replicas : []).map(({ id }) => String(id));
  path = `${api.volumes}/${volumeId}/salvage`;
});
afterAll(() => api?.stop());

/** As the worker leaves a volume of which only the first copy answered; the record names all, or the other one. */
async function wait(members: string[] = copies): Promise<void> {
  const [first] = copies;
  const survey = {
    takenAt: '2026-01-01T12:00:00.000Z',
    copies: [
      { replicaId: first, record: { ...RECORD, members: copies }, isClean: false, writtenBytes: 8192 },
    ],
  };
  const attention = { code: 'CopiesMissing', message: '…', cures: [], since: '2026-01-01T12:00:00.000Z' };
  await api.owner.query(
    `UPDATE volume SET state = 'attaching', attachment = $5, attached_node_id = $6, salvage = NULL, attention = $2, survey = $3, record = $4
     WHERE id = $1`,
    [
      volumeId,
      JSON.stringify(attention),
      JSON.stringify(survey),
      JSON.stringify({ epoch: 3, dataGeneration: members === copies ? 1 : 2, members }),
      JSON.stringify({ requestedAt: new Date() }),
      randomUUID(),
    ],
  );
}

test('a volume that does not wait for copies can not be salvaged, and the advice says so', async () => {
  expect(await api.call('POST', path, { body: {} })).toMatchObject({
    status: 409,
    body: { code: 'volume.not_faulted' },
  });
  expect(await api.call('GET', path)).toMatchObject({
    status: 200,
    body: {
      isPossible: false,
      risk: null,
      surveyedAt: null,
      reason: expect.stringContaining('does not wait'),
    },
  });
});

test('the advice ranks the copies and says what is lost', async () => {
  await wait();
  expect(await api.call('GET', path)).toMatchObject({
    status: 200,
    body: {
      isPossible: true,
      reason: null,
      risk: expect.stringContaining('1 other member acknowledged without this copy'),
      highest: RECORD,
      surveyedAt: '2026-01-01T12:00:00.000Z',
      copies: [
        {
          replicaId: copies[0],
          verdict: 'usable',
          isAdvised: true,
          isUnequal: true,
          writtenBytes: 8192,
          record: RECORD,
          lastHeardAt: expect.any(String),
        },
        { replicaId: copies[1], verdict: 'missing', isAdvised: false, record: null },
      ],
    },
  });
});

test.each<{
  name: string;
  named: (ids: string[]) => string[];
  members?: (ids: string[]) => string[];
  code: string;
}>([
  { name: 'does not answer', named: ([, b = '']) => [b], code: 'volume.copies_missing' },
  {
    name: 'a higher record leaves out',
    named: ([a = '']) => [a],
    members: ([, b = '']) => [b],
    code: 'volume.record_higher',
  },
])('a copy that $name is refused', async ({ named, members, code }) => {
  await wait(members?.(copies));
  const body = { replicaIds: named(copies) };
  expect(await api.call('POST', path, { body })).toMatchObject({
    status: 409,
    body: { code, cures: expect.any(Array) },
  });
});

test('an operator asks for it, which is kept, shown and audited; a viewer may only look', async () => {
  await wait();
  const token = await api.tokenOfRole('viewer');
  expect(await api.call('POST', path, { token, body: {} })).toMatchObject({ status: 403 });
  expect(await api.call('GET', path, { token })).toMatchObject({ status: 200 });

  const operator = await api.tokenOfRole('operator');
  const body = { replicaIds: [copies[0]] };
  expect(await api.call('POST', path, { token: operator, body })).toMatchObject({ status: 202 });
  const { rows } = await api.owner.query('SELECT salvage FROM volume WHERE id = $1', [volumeId]);
  expect(rows[0].salvage).toMatchObject({ replicaIds: [copies[0]] });
  expect(await api.call('GET', path)).toMatchObject({ body: { requestedAt: expect.any(String) } });
  const audit = await api.owner.query(
    `SELECT FROM audit_entry WHERE target_id = $1 AND action LIKE '%salvage%' AND result = 'done'`,
    [volumeId],
  );
  expect(audit.rowCount).toBe(1);
});

test('GraphQL shows the same advice and asks for the same', async () => {
  await wait();
  const { body } = await api.graphql(
    'query ($clusterId: ID!, $volumeId: ID!) { salvageAdvice(clusterId: $clusterId, volumeId: $volumeId) { isPossible copies { verdict } } }',
    { volumeId },
  );
  expect(body).toEqual({
    data: { salvageAdvice: { isPossible: true, copies: [{ verdict: 'usable' }, { verdict: 'missing' }] } },
  });
  const asked = await api.graphql(
    'mutation ($clusterId: ID!, $volumeId: ID!, $input: SalvageVolumeInput!) { salvageVolume(clusterId: $clusterId, volumeId: $volumeId, input: $input) { id } }',
    { volumeId, input: {} },
  );
  expect(asked.body).toEqual({ data: { salvageVolume: { id: volumeId } } });
});
