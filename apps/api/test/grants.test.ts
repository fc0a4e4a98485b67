/** Grants of clusters: what the receiver may do there, what it never sees, and that no limit is passed. */
import { randomUUID } from 'node:crypto';
import { admitWork } from '@holdfast/control/reconcilers/admit-work.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { ApiFixture, type Json } from './api-fixture.js';
import { EventStreamClient } from './event-stream-client.js';
import { subscribeTo } from './subscription-client.js';

const aVolumeEvent = { type: 'VolumeCreated', message: 'it is gone', at: new Date() } as const;

let api: ApiFixture;
let other: Awaited<ReturnType<ApiFixture['otherTenant']>>;
let grants: string;
let volumes: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  await api.node('node-1', 'zone-a');
  await api.node('node-2', 'zone-b');
  grants = `/clusters/${api.seed.clusterId}/grants`;
  volumes = api.volumes;
});
afterAll(() => api?.stop());
beforeEach(async () => {
  other = await api.otherTenant();
});

/** Grants the seeded cluster to the other organization. */
async function grant(body: Json = {}): Promise<Json> {
  const answer = await api.call('POST', grants, { body: { organizationId: other.organizationId, ...body } });
  expect(answer).toMatchObject({ status: 201 });
  return answer.body;
}

/** Asks as the organization that has the grant. */
const there = (method: string, path: string, body?: unknown) =>
  api.call(method, path, { token: other.token, ...(body === undefined ? {} : { body }) });

let made = 0;
const create = (body: Json = {}) => {
  made += 1;
  return there('POST', volumes, { name: `granted-${made}`, size: GIB, numberOfReplicas: 2, ...body });
};

const wrongCounts = async () =>
  (await api.owner.query('SELECT * FROM wrong_grants() UNION ALL SELECT * FROM wrong_quotas()')).rows;

describe('volumes by a grant', () => {
  test('without a grant the cluster is not there; with one its volumes are made, placed and shown', async () => {
    expect(await create()).toMatchObject({ status: 404, body: { code: 'cluster.not_found' } });
    await grant();
    const { status, body } = await create();
    expect(status).toBe(201);
    const replicas = body.replicas as Json[];
    expect(replicas.map(({ diskId }) => typeof diskId)).toEqual(['string', 'string']);
    const { body: list } = await there('GET', volumes);
    expect(list.items?.map(({ id }) => id)).toEqual([body.id]);
    const { body: all } = await there('GET', '/volumes');
    expect(all.items?.map(({ id }) => id)).toEqual([body.id]);
    // The cluster's organization sees the space booked, and not whose.
    const { body: own } = await api.call('GET', volumes);
    expect(JSON.stringify(own)).not.toContain(body.id);
    const { body: cluster } = await api.call('GET', `/clusters/${api.seed.clusterId}`);
    expect(cluster.storage).toMatchObject({ scheduled: 2 * GIB });
  });

  test('a grant is changed and ended under its current tag only', async () => {
    const { id } = await grant();
    const path = `${grants}/${id}`;
    const { etag } = (await api.call('GET', path)).headers;
    const headers = { 'if-match': String(etag) };
    const limit = (volumesMax: number) => api.call('PATCH', path, { body: { volumes: volumesMax }, headers });
    expect(await limit(5)).toMatchObject({ status: 200 });
    expect(await limit(6)).toMatchObject({ status: 412, body: { code: 'request.stale' } });
    expect(await api.call('DELETE', path, { headers })).toMatchObject({ status: 412 });
  });

  test('attach, snapshot, expand, schedule and delete work as in an own cluster', async () => {
    await grant();
    const path = `${volumes}/${(await create()).body.id}`;
    expect(await there('PATCH', path, { numberOfReplicas: 1 })).toMatchObject({ status: 200 });
    expect(
      await there('PUT', `${path}/recurring-snapshots/hourly`, { cron: '@hourly', retain: 1 }),
    ).toMatchObject({
      status: 200,
    });
    const { id } = (await there('GET', path)).body;
    const update = (text: string) => api.owner.query(`UPDATE volume SET ${text} WHERE id = $1`, [id]);
    await api.owner.query(
      `UPDATE replica SET provisioned = true, healthy_at = now(), mode = 'RW' WHERE volume_id = $1`,
      [id],
    );
    await update(`state = 'attached', epoch = 1, attached_node_id = (SELECT id FROM node WHERE name = 'node-1'),
      attachment = '{"requestedAt": "2026-11-01T00:00:00Z"}', endpoint = '{"host": "127.0.0.1", "port": 1, "exportName": "x"}'`);
    expect(await there('POST', `${path}/expand`, { size: 2 * GIB })).toMatchObject({ status: 202 });
    await update(
      `layer_task = NULL, state = 'detached', attached_node_id = NULL, attachment = NULL, endpoint = NULL`,
    );
    expect(await there('POST', `${path}/attach`, {})).toMatchObject({ status: 202 });
    expect(await there('GET', `${path}/settings`)).toMatchObject({ status: 200 });
    await update(`state = 'detached', attachment = NULL`);
    expect(await there('DELETE', path)).toMatchObject({ status: 202 });
    expect(await wrongCounts()).toEqual([]);
  });

  test("its events are for the volume's organization, and not for the cluster's", async () => {
    await grant();
    const { body } = await create();
    const path = `/clusters/${api.seed.clusterId}/events`;
    const { body: theirs } = await there('GET', path);
    expect(theirs.items?.map(({ type, subject }) => [type, (subject as Json).id])).toEqual([
      ['VolumeCreated', body.id],
    ]);
    const event = {
      ...aVolumeEvent,
      clusterId: api.seed.clusterId,
      volumeId: asId<VolumeId>(String(body.id)),
    };
    await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [body.id]);
    // As the worker does it, once the copies are gone.
    await api.store.commit({ kind: 'new' }, [
      { kind: 'volume.delete', volumeId: event.volumeId },
      { kind: 'event', event: { ...event, subject: { kind: 'volume', id: event.volumeId } } },
    ]);
    expect((await there('GET', path)).body.items).toHaveLength(2);
    expect(JSON.stringify((await api.call('GET', path)).body)).not.toContain(String(body.id));
  });
});

test("a node that holds another organization's copies is not deleted", async () => {
  await grant();
  await create();
  const { rows } = await api.owner.query(`SELECT id, conditions FROM node WHERE name = 'node-1'`);
  const [{ id, conditions }] = rows;
  const set = (value: string) =>
    api.owner.query('UPDATE node SET conditions = $2 WHERE id = $1', [id, value]);
  await set('[]');
  const answer = await api.call('DELETE', `/clusters/${api.seed.clusterId}/nodes/${id}`);
  expect(answer).toMatchObject({ status: 409, body: { code: 'node.in_use' } });
  await set(JSON.stringify(conditions));
});

describe('the demands of a grant', () => {
  test('copies go only where its tags are, and what is missing tells nothing of the fleet', async () => {
    await api.owner.query(`UPDATE node SET tags = '{shared}' WHERE name = 'node-2'`);
    const { id } = await grant({ nodeTags: ['shared'] });
    const { body } = await create();
    const placed = (body.replicas as Json[]).filter(({ diskId }) => diskId !== null);
    const { rows } = await api.owner.query(`SELECT id FROM node WHERE name = 'node-2'`);
    expect(placed.map(({ nodeId }) => nodeId)).toEqual([rows[0].id]);
    expect(JSON.stringify(body)).toContain('no further disk that the grant of this cluster allows');
    expect(JSON.stringify(body)).not.toContain('node-1');
    const after = await api.call('PATCH', `${grants}/${id}`, { body: { nodeTags: [] } });
    expect(after).toMatchObject({ status: 200, body: { nodeTags: [], version: 2 } });
    const stored = await api.owner.query(
      `SELECT granted_tags, reconcile_due_at < now() AS due FROM volume WHERE id = $1`,
      [body.id],
    );
    expect(stored.rows).toEqual([{ granted_tags: { nodeTags: [], diskTags: [] }, due: true }]);
  });

  test.each<{ limits: Json; body: Json; told: string }>([
    { limits: { volumes: 1 }, body: {}, told: 'may have 1 of volumes; it has 1' },
    {
      limits: { provisionedBytes: 2 * GIB },
      body: { size: 2 * GIB },
      told: 'may have 2 GiB of provisioned bytes',
    },
  ])('up to $limits and no further', async ({ limits, body, told }) => {
    await grant(limits);
    expect(await create()).toMatchObject({ status: 201 });
    const refused = await create(body);
    expect(refused).toMatchObject({ status: 429, body: { code: 'quota.exceeded' } });
    expect(String(refused.body.detail)).toContain(told);
    expect(await wrongCounts()).toEqual([]);
  });

  test('of many volumes at once no more are made than the limit says', async () => {
    await grant({ volumes: 3 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => create({ numberOfReplicas: 1 })));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(await wrongCounts()).toEqual([]);
  });

  test('it goes when no volume is there any more, and a limit of 0 lets none in', async () => {
    const { id } = await grant();
    const { body } = await create();
    const path = `${grants}/${id}`;
    expect(await api.call('DELETE', path)).toMatchObject({ status: 409, body: { code: 'grant.in_use' } });
    expect(await api.call('PATCH', path, { body: { volumes: 0 } })).toMatchObject({ status: 200 });
    expect(await create()).toMatchObject({ status: 429 });
    await api.owner.query('DELETE FROM replica WHERE volume_id = $1', [body.id]);
    await api.owner.query('DELETE FROM volume WHERE id = $1', [body.id]);
    expect(await api.call('DELETE', path)).toMatchObject({ status: 204 });
    expect(await create()).toMatchObject({ status: 404 });
  });
});

/** Rebuilds of new volumes of both organizations wait at the same node; returns the receiver's and the owner's. */
async function queuedRebuilds(): Promise<[theirs: string[], own: string[]]> {
  await api.owner.query('DELETE FROM rebuild');
  const both: [string[], string[]] = [[], []];
  for (const [of, ids] of both.entries()) {
    for (let count = 0; count < 2; count += 1) {
      const { body } =
        of === 0
          ? await create()
          : await api.call('POST', volumes, { body: { name: `own-${randomUUID()}`, size: GIB } });
      const id = randomUUID();
      ids.push(id);
      await api.owner.query(
        `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
           healthy_copies, size_bytes, bytes, queued_at, source_node_ids)
         SELECT $1, v.organization_id, v.cluster_id, v.id, $3, n.id, 'queued', 'waiting', 2, 4096,
           '{"total":1,"compared":0,"skipped":0,"sent":0,"written":0}', now(), ARRAY[n.id]
         FROM volume v, node n WHERE v.id = $2 AND n.name = 'node-1' AND n.cluster_id = v.cluster_id`,
        [id, body.id, randomUUID()],
      );
    }
  }
  return both;
}

const admit = () =>
  admitWork(
    {
      store: api.store,
      queue: { wake: async () => undefined },
      clock: systemClock,
    },
    api.seed.clusterId,
  );

test.each([
  { runningRebuilds: 1, running: 1, reason: 'QuotaLimit', told: 'runs 1 rebuild, and may run 1 at once' },
  { runningRebuilds: 0, running: 0, reason: 'QuotaZero', told: 'may run no rebuild' },
])(
  'of its rebuilds $runningRebuilds run at once, the others say that the grant holds them, and those of the cluster’s owner go on',
  async ({ runningRebuilds, running, reason, told }) => {
    for (const limit of ['target', 'source'] as const) {
      const name = {
        target: 'concurrent-replica-rebuild-per-node-limit',
        source: 'concurrent-rebuild-source-per-node-limit',
      }[limit];
      await api.call('PUT', `/clusters/${api.seed.clusterId}/settings/${name}`, { body: { value: 10 } });
    }
    const { id } = await grant({ runningRebuilds });
    const [theirs, own] = await queuedRebuilds();
    await admit();
    const { rows } = await api.owner.query('SELECT id, state, waiting_reason, waiting_for FROM rebuild');
    const inState = (ids: string[], state: string) =>
      rows.filter((row) => ids.includes(row.id) && row.state === state);
    expect(inState(own, 'running')).toHaveLength(2);
    expect(inState(theirs, 'running')).toHaveLength(running);
    const held = inState(theirs, 'queued');
    expect(held).toHaveLength(2 - running);
    expect(held[0]).toMatchObject({ waiting_reason: reason });
    expect(held[0].waiting_for).toContain(`by its grant in this cluster, ${told}`);

    await api.call('PATCH', `${grants}/${id}`, { body: { runningRebuilds: null } });
    await admit();
    const after = await api.owner.query(`SELECT DISTINCT state FROM rebuild`);
    expect(after.rows).toEqual([{ state: 'running' }]);
  },
);

describe('what a grant does not show', () => {
  test('the cluster, its nodes, settings and figures are not there', async () => {
    await grant();
    const cluster = `/clusters/${api.seed.clusterId}`;
    for (const path of ['', '/nodes', '/settings', '/orphans', '/join-tokens', '/grants', '/disks']) {
      expect(`${path}: ${(await there('GET', `${cluster}${path}`)).status}`).toBe(`${path}: 404`);
    }
    const value = { value: 0.5 };
    expect(await there('PUT', `${cluster}/settings/balance-alpha`, value)).toMatchObject({ status: 404 });
    expect(await there('PATCH', cluster, { name: 'mine' })).toMatchObject({ status: 404 });
    expect((await there('GET', '/clusters')).body.items?.map(({ id }) => id)).toEqual([other.clusterId]);
  });

  test('no explanation and no move names the places of others', async () => {
    await grant();
    const { body } = await create();
    const path = `${volumes}/${body.id}`;
    const replica = (body.replicas as Json[])[0]?.id;
    expect(await there('POST', `${path}/explain`, {})).toMatchObject({ status: 403 });
    expect(await there('POST', `${path}/replicas/${replica}/move`, {})).toMatchObject({ status: 403 });
  });

  test('volumes of its own organization stay unseen by a third one, and by the token of another cluster', async () => {
    await grant();
    const { body } = await create();
    const third = await api.otherTenant();
    const asked = await api.call('GET', `${volumes}/${body.id}`, { token: third.token });
    expect(asked).toMatchObject({ status: 404 });
    const limited = await there('POST', '/tokens', { name: 'elsewhere', clusterIds: [other.clusterId] });
    const token = String(limited.body.token);
    expect(await api.call('GET', `${volumes}/${body.id}`, { token })).toMatchObject({ status: 404 });
    expect(await api.call('POST', volumes, { token, body: { name: 'x', size: GIB } })).toMatchObject({
      status: 404,
    });
  });

  test("changes of the other organization's volumes are told to neither, by stream or by subscription", async () => {
    await grant();
    const port = await api.listen();
    const { clusterId } = api.seed;
    const theirs = EventStreamClient.open({ port, clusterId, token: other.token });
    const ours = EventStreamClient.open({ port, clusterId, token: api.seed.token });
    // An event that is no longer known: the answer to it says that the subscription has begun.
    const subscription = subscribeTo(port, { clusterId, after: '1-1' }, other.token);
    try {
      await Promise.all([theirs, ours].map((stream) => stream.until((messages) => messages.length > 0)));
      await subscription.until(() => subscription.messages.length > 0);
      const own = String((await api.createVolume()).id);
      const granted = String((await create()).body.id);
      // Each is told of its own last, so that what came before is there.
      const last = String((await api.createVolume()).id);
      const changed = (stream: EventStreamClient) =>
        stream.messages.flatMap(({ event, data }) => (event === 'change' ? (data?.subject?.id ?? []) : []));
      await Promise.all([
        theirs.until(() => changed(theirs).includes(granted)),
        ours.until(() => changed(ours).includes(last)),
        subscription.until(() => subscription.messages.some(({ change }) => change?.id === granted)),
      ]);
      expect(changed(theirs)).toEqual([granted]);
      expect(changed(ours)).not.toContain(granted);
      expect(changed(ours)).toContain(own);
      expect(subscription.messages.map(({ change }) => change?.id)).not.toContain(own);
    } finally {
      subscription.close();
      for (const stream of [theirs, ours]) stream.close();
    }
  });

  test('the receiver sees its slice, and can not change it', async () => {
    const { id } = await grant({ volumes: 7, diskTags: [] });
    const { body } = await there('GET', '/grants');
    expect(body.items).toMatchObject([
      { id, clusterName: 'local', limits: { volumes: 7 }, used: { volumes: 0 } },
    ]);
    expect(await there('PATCH', `${grants}/${id}`, { volumes: 8 })).toMatchObject({ status: 404 });
    expect(await there('DELETE', `${grants}/${id}`)).toMatchObject({ status: 404 });
  });
});

describe('making a grant', () => {
  test('needs another organization that is there, and is done once for each', async () => {
    await grant();
    const twice = await api.call('POST', grants, { body: { organizationId: other.organizationId } });
    expect(twice).toMatchObject({ status: 409, body: { code: 'grant.exists' } });
    for (const organizationId of [api.seed.organizationId, '01a1fd5b-0000-7000-8000-0000000000ff']) {
      const answer = await api.call('POST', grants, { body: { organizationId } });
      expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: '/organizationId' }] } });
    }
  });

  test('is in the audit log with its fields', async () => {
    const { id } = await grant({ volumes: 2 });
    await api.call('PATCH', `${grants}/${id}`, { body: { volumes: 5 } });
    const { rows } = await api.owner.query(
      `SELECT to_jsonb(e) AS entry FROM audit_entry e WHERE target_id = $1 ORDER BY id DESC LIMIT 1`,
      [id],
    );
    expect(JSON.stringify(rows)).toContain('"volumes_max":5');
  });
});

test('GraphQL makes, changes, shows and ends a grant as REST does', async () => {
  const ask = async (text: string, input: object, grantId = '') => {
    const { body } = await api.graphql(text, { input, grantId });
    expect(body.errors).toBeUndefined();
    return body.data;
  };
  const create = `mutation ($clusterId: ID!, $input: CreateGrantInput!) {
    createGrant(clusterId: $clusterId, input: $input) { id limits { volumes } nodeTags } }`;
  const { createGrant: made } = await ask(create, { organizationId: other.organizationId, volumes: 3 });
  expect(made).toMatchObject({ limits: { volumes: 3 }, nodeTags: [] });
  const update = `mutation ($clusterId: ID!, $grantId: ID!, $input: GrantInput!) {
    updateGrant(clusterId: $clusterId, grantId: $grantId, input: $input) { limits { volumes } version } }`;
  const { updateGrant: changed } = await ask(update, { volumes: 4 }, made.id);
  expect(changed).toEqual({ limits: { volumes: 4 }, version: 2 });
  const end = `mutation ($clusterId: ID!, $grantId: ID!) { deleteGrant(clusterId: $clusterId, grantId: $grantId) { id } }`;
  expect(await ask(end, {}, made.id)).toEqual({ deleteGrant: { id: made.id } });
  const { rows } = await api.owner.query('SELECT action FROM audit_entry WHERE target_id = $1 ORDER BY id', [
    made.id,
  ]);
  expect(rows.map(({ action }) => action)).toEqual(['mutation updateGrant', 'mutation deleteGrant']);
});

describe('Postgres itself holds what a grant allows', () => {
  /** As the api role in a transaction that may place volumes, whatever the code above it does. */
  async function asReceiver(text: string, values: readonly unknown[]) {
    const client = new pg.Client({ connectionString: api.database.apiUrl });
    await client.connect();
    try {
      await client.query('BEGIN');
      const settings = `set_config('holdfast.organization_id', $1, true), set_config('holdfast.granted', 'on', true)`;
      await client.query(`SELECT ${settings}`, [other.organizationId]);
      const answer = await client.query(text, [...values]);
      await client.query('COMMIT');
      return answer.rowCount;
    } finally {
      await client.end();
    }
  }

  test('space is booked on a disk, and nothing else of it is changed', async () => {
    await grant();
    const update = (what: string) =>
      asReceiver(`UPDATE disk SET ${what} WHERE cluster_id = $1`, [api.seed.clusterId]);
    expect(await update('storage_scheduled_bytes = storage_scheduled_bytes + 0')).toBe(2);
    await expect(update('allow_scheduling = false')).rejects.toThrow('nothing else');
    await expect(
      asReceiver(`UPDATE cluster SET name = 'x' WHERE id = $1`, [api.seed.clusterId]),
    ).rejects.toThrow('row-level security');
    const nodes = await asReceiver('UPDATE node SET cordoned = true WHERE cluster_id = $1', [
      api.seed.clusterId,
    ]);
    expect(nodes).toBe(0);
  });

  test('no volume is in the cluster without a grant, with other tags, or past a limit', async () => {
    await grant({ volumes: 1 });
    const { body } = await create();
    const copy = (tags: string | null) =>
      asReceiver(
        `INSERT INTO volume SELECT (jsonb_populate_record(v, jsonb_build_object('id', gen_random_uuid(),
           'name', gen_random_uuid(), 'granted_tags', $2::jsonb))).* FROM volume v WHERE id = $1`,
        [body.id, tags],
      );
    await expect(copy(null)).rejects.toThrow("another organization's");
    await expect(copy('{"nodeTags": ["x"], "diskTags": []}')).rejects.toThrow('its grant has changed');
    await expect(copy('{"nodeTags": [], "diskTags": []}')).rejects.toThrow('the grant of volumes is passed');
    expect(await wrongCounts()).toEqual([]);
  });
});
