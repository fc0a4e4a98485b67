/** Dry runs: every operation that moves or destroys data, tried with `dryRun=true`, and the whole database compared before and after. */
import { randomUUID } from 'node:crypto';
import { GIB } from '@holdfast/core/model/bytes.js';
import { makeNodesReady } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture } from './api-fixture.js';
import { FIELDS } from './graphql-table.js';
import { openApiDocument } from './openapi-document.js';

type Documented = {
  operationId: string;
  'x-holdfast-destructive'?: boolean;
  parameters: { name: string }[];
};
type Case = { at: string; body?: object; want?: object };

/** Deletions of what holds no data. */
const HOLDS_NO_DATA = [
  'DELETE /api/v1/clusters/{clusterId}/grants/{grantId}',
  'DELETE /api/v1/clusters/{clusterId}/join-tokens/{joinTokenId}',
  'DELETE /api/v1/clusters/{clusterId}/silences/{silenceId}',
  'DELETE /api/v1/clusters/{clusterId}/volumes/{volumeId}/recurring-snapshots/{recurringName}',
];
const CLUSTER = '/api/v1/clusters/{clusterId}';
const VOLUME = `${CLUSTER}/volumes/{volumeId}`;
const NODE = `${CLUSTER}/nodes/{nodeId}`;

let api: ApiFixture;
let cases: Record<string, Case>;

beforeAll(async () => {
  api = await ApiFixture.start();
  cases = await makeCases();
});
afterAll(() => api?.stop());

const OPERATIONS = Object.entries(
  openApiDocument<{ paths: Record<string, Record<string, Documented>> }>().paths,
).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, documented]) => ({
    name: `${method.toUpperCase()} ${path}`,
    operationId: documented.operationId,
    isDestructive: documented['x-holdfast-destructive'] === true,
    takesDryRun: documented.parameters.some(({ name }) => name === 'dryRun'),
  })),
);
const DESTRUCTIVE = OPERATIONS.filter(({ isDestructive }) => isDestructive).map(({ name }) => name);
const OPERATION_IDS = new Map(OPERATIONS.map(({ name, operationId }) => [name, operationId]));

test('whatever is deleted in a cluster can be tried, and what is destructive takes the parameter', () => {
  const deletions = OPERATIONS.filter(({ name }) => name.startsWith('DELETE /api/v1/clusters/'));
  const untried = deletions.filter(({ takesDryRun }) => !takesDryRun).map(({ name }) => name);
  expect(untried.sort()).toEqual(HOLDS_NO_DATA);
  for (const operation of OPERATIONS) expect(operation.takesDryRun).toBe(operation.isDestructive);
});

describe('a dry run changes nothing', () => {
  test.each(DESTRUCTIVE)('%s leaves every table as it is', async (name) => {
    const found = cases[name];
    if (found === undefined) throw new Error(`there is no case of ${name}: add one`);
    const [method = ''] = name.split(' ');
    const before = await dump();
    const answer = await api.call(method, `${found.at}?dryRun=true`, {
      ...(found.body === undefined ? {} : { body: found.body }),
      ...(method === 'POST' ? { headers: { 'idempotency-key': randomUUID() } } : {}),
    });
    expect(await dump()).toEqual(before);
    expect(answer).toMatchObject(
      found.want ?? {
        status: 200,
        headers: { 'content-type': expect.stringContaining('dry-run+json') },
        body: { dryRun: true, changes: true },
      },
    );
    const { rows } = await api.owner.query(
      `SELECT result FROM audit_entry WHERE result <> 'refused' ORDER BY id DESC LIMIT 1`,
    );
    // Refusals, of a case before, are written down a little later than they are answered.
    if (answer.status === 200) expect(rows).toEqual([{ result: 'dry' }]);
  });
});

test.each<{ name: string; notes: unknown[] }>([
  {
    name: `DELETE ${VOLUME}/snapshots/{snapshotId}`,
    notes: [
      'its 0 B are removed from each copy: nothing stands on them',
      'the volume can not be reverted to it any more, and that can not be undone',
    ],
  },
  {
    name: `POST ${VOLUME}/revert`,
    notes: ['what was written since the last snapshot is lost, on all copies'],
  },
  {
    name: `POST ${VOLUME}/expand`,
    notes: [
      'it has 1 GiB and gets 2 GiB',
      'a volume can not be made smaller again; clients see the new size when they connect again',
    ],
  },
  {
    name: `POST ${VOLUME}/detach`,
    notes: [
      'its address 127.0.0.1:7420 on node-1 ends: clients that are connected lose it, and what they write gets errors',
      'the next attachment has another address',
      'node-1 is not waited for: what clients did not flush may be lost',
    ],
  },
  {
    name: `POST ${NODE}/maintenance`,
    notes: [
      'while it is away 2 volumes have a copy less, and no other is built until it is back or the window has ended',
      expect.stringMatching(/^one volume is served by it: clients lose .* when it is switched off: ./),
    ],
  },
  {
    name: `DELETE ${NODE}/disks/{diskId}`,
    notes: [
      'the cluster has 100 GiB less room for copies',
      expect.stringMatching(/^what is stored at \/.* stays there$/),
    ],
  },
  {
    name: `DELETE ${NODE}`,
    notes: [
      'its disk is forgotten with it: the cluster has 100 GiB less room for copies',
      'what is stored on the machine stays there',
    ],
  },
])('$name says what is lost by it', async ({ name, notes }) => {
  const { at = '', body } = cases[name] ?? {};
  const [method = ''] = name.split(' ');
  const answer = await api.call(method, `${at}?dryRun=true`, body === undefined ? {} : { body });
  expect(answer).toMatchObject({ status: 200, body: { notes } });
});

describe('a dry run by GraphQL', () => {
  test.each(DESTRUCTIVE)('%s says the same as by REST, and changes nothing', async (name) => {
    const found = cases[name];
    if (found === undefined) throw new Error(`there is no case of ${name}: add one`);
    const before = await dump();
    const [method = ''] = name.split(' ');
    const byRest = await api.call(method, `${found.at}?dryRun=true`, found.body ? { body: found.body } : {});
    const { field, body: told } = await askGraphql(name, found);
    expect(await dump()).toEqual(before);
    if (byRest.status !== 200) {
      expect(told.errors?.[0]?.extensions?.code).toBe(byRest.body.code);
      return;
    }
    const { changes, copyCount, bytesRemoved, bytesCopied, notes, copies } = byRest.body;
    const wanted = { dryRun: true, changes, copyCount, bytesRemoved, bytesCopied, notes, copies };
    expect(told).toMatchObject({ data: { [field]: wanted } });
    const { rows } = await api.owner.query('SELECT result FROM audit_entry WHERE action = $1', [
      `mutation ${field}`,
    ]);
    expect(rows).toEqual([{ result: 'dry' }]);
  });

  test('is refused to those whom the mutation is refused to', async () => {
    const name = `DELETE ${VOLUME}`;
    const token = await api.tokenOfRole('viewer');
    const { body } = await askGraphql(name, cases[name] ?? { at: '' }, token);
    expect(body.errors?.[0]?.extensions?.code).toBe('auth.forbidden');
  });
});

/** The field `dryRun…` of the operation's mutation, with the same path and body. */
async function askGraphql(name: string, { at, body }: Case, token?: string) {
  const mutation = FIELDS[OPERATION_IDS.get(name) ?? ''] ?? '';
  const field = `dryRun${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}`;
  const [, template = ''] = name.split(' /api/v1');
  const values = at.split('/');
  const path = template
    .split('/')
    .flatMap((part, index) => (part.startsWith('{') ? [[part.slice(1, -1), values[index] ?? '']] : []));
  const given = path.map(([key, value]) => `${key}: ${JSON.stringify(value)}`);
  const input = body === undefined ? [] : [`input: ${asLiteral(body)}`];
  const selection =
    'dryRun changes copyCount bytesRemoved bytesCopied notes copies { effect volumeId volumeName replicaId nodeId diskId bytes }';
  const query = `mutation { ${field}(${[...given, ...input].join(', ')}) { ${selection} } }`;
  return { field, ...(await api.graphql(query, {}, token)) };
}

function asLiteral(body: object): string {
  return `{ ${Object.entries(body)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')} }`;
}

describe('a plan', () => {
  const planOf = async (name: string) => {
    const { at = '', body } = cases[name] ?? {};
    const [method = ''] = name.split(' ');
    return (await api.call(method, `${at}?dryRun=true`, body === undefined ? {} : { body })).body;
  };

  test('of a deletion names all copies with their bytes', async () => {
    const plan = await planOf(`DELETE ${VOLUME}`);
    expect(plan).toMatchObject({ copyCount: 2, bytesRemoved: 2 * 4096, bytesCopied: 0 });
    expect(plan.copies).toEqual([
      expect.objectContaining({ effect: 'removed', bytes: 4096 }),
      expect.objectContaining({ effect: 'removed', bytes: 4096 }),
    ]);
    expect(plan).toMatchObject({ before: { state: 'detached' }, after: { state: 'deleting' } });
  });

  test('of fewer replicas names the copy that goes', async () => {
    const plan = await planOf(`PATCH ${VOLUME}`);
    expect(plan).toMatchObject({ copyCount: 1, copies: [{ effect: 'removed' }] });
  });

  test('of one copy names the one that is built for it', async () => {
    const plan = await planOf(`DELETE ${VOLUME}/replicas/{replicaId}`);
    expect(plan.copies).toMatchObject([{ effect: 'removed' }, { effect: 'built', replicaId: null }]);
  });

  test('of a drain names what moves, and what would be told', async () => {
    const plan = await planOf(`POST ${NODE}/drain`);
    expect(plan.copies).toContainEqual(expect.objectContaining({ effect: 'moved' }));
    expect(plan.events).toContainEqual(expect.objectContaining({ type: 'NodeDrainStarted' }));
  });

  test('of an uncordon says what of the node would change, and that copies stay', async () => {
    expect(await planOf(`POST ${NODE}/uncordon`)).toMatchObject({
      before: { cordoned: true },
      after: { cordoned: false },
      notes: ['replicas that are still on the node stay there'],
    });
  });
});

describe('a request for a dry run', () => {
  test.each(['yes', '1', ''])('that says %j is refused', async (value) => {
    const { at = '' } = cases[`DELETE ${VOLUME}`] ?? {};
    expect(await api.call('DELETE', `${at}?dryRun=${value}`)).toMatchObject({
      status: 422,
      body: { code: 'request.invalid', errors: [{ pointer: 'dryRun' }] },
    });
    expect((await api.call('GET', at)).status).toBe(200);
  });

  test('of an operation that has none is refused, and not done', async () => {
    const body = { name: 'never-made', size: GIB };
    expect(await api.call('POST', `${api.volumes}?dryRun=true`, { body })).toMatchObject({ status: 422 });
    expect((await api.call('GET', `${api.volumes}?filter=name=never-made`)).body.items).toEqual([]);
  });

  test('is refused to those whom the operation is refused to', async () => {
    const { at = '' } = cases[`DELETE ${VOLUME}`] ?? {};
    const token = await api.tokenOfRole('viewer');
    expect((await api.call('DELETE', `${at}?dryRun=true`, { token })).status).toBe(403);
  });

  test('leaves its idempotency key to the request itself', async () => {
    const volume = await api.createVolume();
    const at = `${api.volumes}/${volume.id}/attach`;
    const headers = { 'idempotency-key': randomUUID() };
    const detach = at.replace('attach', 'detach');
    expect((await api.call('POST', at)).status).toBe(202);
    expect((await api.call('POST', `${detach}?dryRun=true`, { headers, body: {} })).body).toMatchObject({
      dryRun: true,
    });
    expect((await api.call('POST', detach, { headers, body: {} })).body).toMatchObject({ id: volume.id });
  });
});

/** All rows of all tables, but those of the audit log, when a token was last used, and when this process last listened. */
async function dump(): Promise<Record<string, unknown>> {
  const { rows: tables } = await api.owner.query(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'
       AND relname NOT LIKE 'audit%' AND relname <> 'cluster_listening' ORDER BY 1`,
  );
  const all: Record<string, unknown> = {};
  for (const { name } of tables) {
    const { rows } = await api.owner.query(
      `SELECT to_jsonb(t) - 'last_used_at' AS row FROM "${name}" t ORDER BY 1`,
    );
    all[name] = rows;
  }
  return all;
}

/** For each destructive operation a request that would do something. */
async function makeCases(): Promise<Record<string, Case>> {
  const cluster = `/clusters/${api.seed.clusterId}`;
  const nodeId = await api.node('node-1', 'zone-a');
  for (const name of ['node-2', 'node-3']) await api.node(name, 'zone-b');
  const empty = await api.node('node-empty', 'zone-c');
  await makeNodesReady(api.owner);
  await api.owner.query(`UPDATE node SET conditions = '[]', allow_scheduling = false WHERE id = $1`, [empty]);
  const detached = await api.createVolume({ numberOfReplicas: 2 });
  await api.owner.query(
    `UPDATE volume SET state = 'detached', robustness = 'healthy', written_bytes = 4096 WHERE id = $1`,
    [detached.id],
  );
  await api.owner.query(
    `UPDATE replica SET healthy_at = now(), last_healthy_at = now(), written_bytes = 4096, provisioned = true WHERE volume_id = $1`,
    [detached.id],
  );
  const attached = await api.createAttachedVolume(nodeId);
  const snapshotId = randomUUID();
  await api.owner.query(
    `INSERT INTO snapshot (id, organization_id, volume_id, name, origin, created_at) VALUES ($1, $2, $3, 's', 'user', now())`,
    [snapshotId, api.seed.organizationId, attached.id],
  );
  const { rows } = await api.owner.query(
    `SELECT (SELECT id FROM replica WHERE volume_id = $1 ORDER BY id LIMIT 1) AS replica,
       (SELECT node_id FROM replica WHERE volume_id = $1 ORDER BY id LIMIT 1) AS node,
       (SELECT id FROM disk WHERE node_id = $2) AS disk`,
    [detached.id, empty],
  );
  const [{ replica, node, disk }] = rows;
  const orphanId = randomUUID();
  await api.owner.query(`UPDATE disk SET conditions = $1`, [
    JSON.stringify([
      { type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: new Date() },
    ]),
  ]);
  await api.owner.query(
    `INSERT INTO orphan (id, organization_id, cluster_id, node_id, disk_id, replica_id, volume_id, written_bytes,
       first_seen_at, announced_at)
     SELECT $1, $2, $3, node_id, id, $1, $4, 4096, now(), now() FROM disk WHERE node_id = $5`,
    [orphanId, api.seed.organizationId, api.seed.clusterId, detached.id, nodeId],
  );
  await api.call('POST', `${cluster}/nodes/${empty}/cordon`, { body: {} });
  await api.call('POST', `${cluster}/nodes/${empty}/maintenance`, {
    body: { until: new Date(Date.now() + 3_600_000).toISOString(), reason: '' },
  });
  const { body: unused } = await api.call('POST', '/clusters', { body: { name: 'unused' } });
  await api.call('PUT', `${cluster}/settings/default-replica-count`, { body: { value: 2 } });
  const at = `${api.volumes}/${attached.id}`;
  const volume = `${api.volumes}/${detached.id}`;
  return {
    [`DELETE ${CLUSTER}`]: { at: `/clusters/${unused.id}` },
    [`DELETE ${NODE}`]: { at: `${cluster}/nodes/${empty}` },
    [`PATCH ${NODE}`]: {
      at: `${cluster}/nodes/${node}`,
      body: { allowScheduling: false, evictionRequested: true },
    },
    [`POST ${NODE}/uncordon`]: { at: `${cluster}/nodes/${empty}/uncordon` },
    [`POST ${NODE}/maintenance`]: {
      at: `${cluster}/nodes/${nodeId}/maintenance`,
      body: { until: new Date(Date.now() + 3_600_000).toISOString(), reason: 'a new disk' },
    },
    [`POST ${NODE}/end-maintenance`]: { at: `${cluster}/nodes/${empty}/end-maintenance` },
    [`POST ${NODE}/forget`]: { at: `${cluster}/nodes/${empty}/forget`, body: {} },
    [`POST ${NODE}/drain`]: { at: `${cluster}/nodes/${node}/drain`, body: { policy: 'block-for-eviction' } },
    [`PATCH ${NODE}/disks/{diskId}`]: {
      at: `${cluster}/nodes/${empty}/disks/${disk}`,
      body: { allowScheduling: false },
    },
    [`DELETE ${NODE}/disks/{diskId}`]: { at: `${cluster}/nodes/${empty}/disks/${disk}` },
    [`DELETE ${CLUSTER}/orphans/{orphanId}`]: { at: `${cluster}/orphans/${orphanId}` },
    [`PUT ${CLUSTER}/settings/{name}`]: {
      at: `${cluster}/settings/default-replica-count`,
      body: { value: 1 },
    },
    [`DELETE ${CLUSTER}/settings/{name}`]: { at: `${cluster}/settings/default-replica-count` },
    [`PATCH ${VOLUME}`]: { at: volume, body: { numberOfReplicas: 1 } },
    [`DELETE ${VOLUME}`]: { at: volume },
    [`DELETE ${VOLUME}/replicas/{replicaId}`]: { at: `${volume}/replicas/${replica}` },
    [`POST ${VOLUME}/replicas/{replicaId}/move`]: { at: `${volume}/replicas/${replica}/move`, body: {} },
    [`POST ${VOLUME}/detach`]: { at: `${at}/detach`, body: { force: true } },
    [`POST ${VOLUME}/expand`]: { at: `${at}/expand`, body: { size: 2 * GIB } },
    [`POST ${VOLUME}/revert`]: { at: `${at}/revert`, body: { snapshotId } },
    [`POST ${VOLUME}/snapshots/purge`]: { at: `${at}/snapshots/purge` },
    [`DELETE ${VOLUME}/snapshots/{snapshotId}`]: { at: `${at}/snapshots/${snapshotId}` },
    // Refused as the salvage itself would be.
    [`POST ${VOLUME}/salvage`]: {
      at: `${at}/salvage`,
      body: {},
      want: { status: 409, body: { code: 'volume.not_faulted' } },
    },
    // Its copies do not differ: there is nothing to choose.
    [`POST ${VOLUME}/accept-copies`]: {
      at: `${volume}/accept-copies`,
      body: { replicaIds: [replica] },
      want: { status: 409, body: { code: 'volume.not_faulted' } },
    },
  };
}
