import { randomUUID } from 'node:crypto';
import { createPool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { pruneHistory } from '@holdfast/database/store/prune.js';
import { TEST_SECRETS } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { EventStreamClient } from './event-stream-client.js';
import { OwnApi } from './own-api.js';

let api: OwnApi;
let port: number;

beforeAll(async () => {
  api = await OwnApi.begin();
  await api.app.nest.listen(0, '127.0.0.1');
  const address = api.app.fastify.server.address();
  port = typeof address === 'object' && address !== null ? address.port : 0;
});
afterAll(() => api?.stop());

const INSERT = `INSERT INTO event (organization_id, cluster_id, transaction_id, type, severity, subject_kind, subject_id,
  message, at) VALUES ($1, $2::uuid, pg_current_xact_id()::text::bigint, 'Tested', 'info', 'cluster', $2::text, $3, now())`;
const NOTIFY = `SELECT pg_notify('holdfast_event', concat_ws(' ', $1::text, $2::text))`;

test('events and changes arrive as they happen, and a stream resumes where it was cut', async () => {
  const first = openStream();
  await first.until((messages) => messages.length > 0);
  const one = await api.createVolume({ name: 'stream-1' });
  await first.until(() => first.events.length >= 1);
  await first.until((messages) => messages.some(({ event }) => event === 'change'));
  expect(first.messages).toContainEqual({
    event: 'change',
    data: { subject: { kind: 'volume', id: one.id } },
  });
  const seen = first.events[0]?.id;
  first.close();

  await api.createVolume({ name: 'stream-2' });
  await api.createVolume({ name: 'stream-3' });
  const second = openStream(seen);
  await second.until(() => second.events.length >= 2);
  expect(second.events.map(({ data }) => data?.message)).toEqual([
    expect.stringContaining('stream-2'),
    expect.stringContaining('stream-3'),
  ]);
  second.close();
});

describe('an export', () => {
  const raw = (query: string, cluster: string = api.seed.clusterId) =>
    api.send({
      url: `/api/v1/clusters/${cluster}/events/export?${query}`,
      headers: { authorization: `Bearer ${TEST_SECRETS.token}` },
    });
  const messagesOf = (text: string): string[] =>
    text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).message);

  test('has the events of a filter, oldest first, and goes on behind the last one', async () => {
    for (const name of ['=1+1', 'two', 'three']) await insert(api.owner, `exported ${name}`);
    await insert(api.owner, '=1+1');
    const filter = encodeURIComponent('type=Tested OR type=Never');
    const all = messagesOf((await raw(`filter=${filter}`)).body);
    expect(all.slice(-4)).toEqual(['exported =1+1', 'exported two', 'exported three', '=1+1']);
    const lines = (await raw(`filter=${filter}`)).body.trimEnd().split('\n');
    const [, number] = String(JSON.parse(lines.at(-3) ?? '').id).split('-');
    expect(messagesOf((await raw(`filter=${filter}&after=${number}`)).body)).toEqual([
      'exported three',
      '=1+1',
    ]);
    expect(messagesOf((await raw(`filter=${filter}&limit=1`)).body)).toEqual(all.slice(0, 1));
  });

  test('is a table that no spreadsheet runs', async () => {
    const csv = await raw(`format=csv&filter=${encodeURIComponent('type=Tested')}`);
    expect(csv.headers['content-type']).toContain('text/csv');
    const [head, ...rows] = csv.body.trimEnd().split('\r\n');
    expect(head).toBe('id,at,severity,type,subjectKind,subjectId,volumeId,message,causeId,effects');
    expect(rows.at(-1)).toContain(",'=1+1,");
  });

  test('is refused where the list is', async () => {
    expect((await raw('filter=nonsense')).statusCode).toBe(422);
    expect((await raw('limit=100001')).statusCode).toBe(422);
    expect((await raw('', randomUUID())).statusCode).toBe(404);
  });
});

test('an event whose transaction commits late is neither lost nor overtaken', async () => {
  const slow = new pg.Client({ connectionString: api.database.ownerUrl });
  await slow.connect();
  const stream = openStream();
  try {
    await stream.until((messages) => messages.length > 0);
    await slow.query('BEGIN');
    await insert(slow, 'began first');
    await insert(api.owner, 'committed first');
    // A reader that goes by id alone would now pass the first one for good.
    const { body } = await api.call('GET', `/clusters/${api.seed.clusterId}/events?limit=1`);
    expect(body.items).toMatchObject([{ message: 'committed first' }]);
    expect(stream.events).toEqual([]);
    await slow.query('COMMIT');
    await stream.until(() => stream.events.length >= 2);
    expect(stream.events.map(({ data }) => data?.message)).toEqual(['began first', 'committed first']);
  } finally {
    stream.close();
    await slow.end();
  }
});

test('after the listening connection was cut, what happened meanwhile still arrives', async () => {
  const stream = openStream();
  await stream.until((messages) => messages.length > 0);
  await api.owner.query(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'holdfast-api-live' AND datname = current_database()`,
  );
  await api.owner.query(INSERT, [api.seed.organizationId, api.seed.clusterId, 'unannounced']);
  await stream.until(() => stream.events.length >= 1);
  expect(stream.events[0]?.data?.message).toBe('unannounced');
  stream.close();
});

test('a stream that resumes after an event that is gone says so, and goes on', async () => {
  await insert(api.owner, 'kept');
  const old = new Date(Date.now() - 40 * 24 * 3_600_000);
  await api.owner.query(`UPDATE event SET at = $1 WHERE message <> 'kept'`, [old]);
  const { rows } = await api.owner.query(
    `SELECT transaction_id, id FROM event WHERE message <> 'kept' ORDER BY id LIMIT 1`,
  );
  const pruned = await prune();
  expect(pruned.events).toBeGreaterThan(0);
  const stream = openStream(`${rows[0].transaction_id}-${rows[0].id}`);
  await stream.until(() => stream.events.some(({ data }) => data?.message === 'kept'));
  expect(stream.messages).toContainEqual({ event: 'gap', data: {} });
  stream.close();
});

test('history is kept as long as the settings of its cluster say', async () => {
  const { organizationId, clusterId } = api.seed;
  const tenDaysAgo = new Date(Date.now() - 10 * 24 * 3_600_000);
  await insert(api.owner, 'ten days old');
  // The log is pruned from its beginning.
  await api.owner.query('TRUNCATE audit_entry, audit_link, audit_unsealed');
  await api.owner.query(`UPDATE event SET at = $1 WHERE message = 'ten days old'`, [tenDaysAgo]);
  await api.owner.query(
    `INSERT INTO audit_entry (organization_id, actor_kind, actor_id, action, target_kind, target_id, request_id, detail, at)
     VALUES ($1, 'user', 'someone', 'ten days old', 'volume', 'v', 'r', '{}', $2)`,
    [organizationId, tenDaysAgo],
  );
  await insertRebuild(tenDaysAgo);
  await insertOperation(tenDaysAgo);
  expect(await prune()).toMatchObject({ events: 0, auditEntries: 0, rebuilds: 0, operations: 0 });
  for (const name of ['event-retention-days', 'audit-retention-days', 'rebuild-retention-days']) {
    await api.call('PUT', `/clusters/${clusterId}/settings/${name}`, { body: { value: 9 } });
  }
  expect(await prune()).toMatchObject({ events: 1, auditEntries: 1, rebuilds: 1, operations: 1 });
});

/** A deletion that has ended. */
async function insertOperation(finishedAt: Date): Promise<void> {
  const { organizationId, clusterId } = api.seed;
  await api.owner.query(
    `INSERT INTO ended_operation (id, organization_id, cluster_id, kind, target_kind, target_id, state, phase, message,
       requested_at, finished_at)
     VALUES ('delete-old', $1, $2, 'delete', 'volume', $2, 'succeeded', '', '', $3, $3)`,
    [organizationId, clusterId, finishedAt],
  );
}

/** One that has ended, of a volume of its own. */
async function insertRebuild(finishedAt: Date): Promise<void> {
  const { organizationId, clusterId } = api.seed;
  const nodeId = await api.node('node-1', 'zone-a');
  const volume = await api.createVolume({ name: 'rebuilt', numberOfReplicas: 1 });
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at, source_node_ids, finished_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'succeeded', 'done', 1, 4096,
       '{"total":1,"compared":0,"skipped":0,"sent":0,"written":0}', $7, ARRAY[$6]::uuid[], $7)`,
    [randomUUID(), organizationId, clusterId, volume.id, randomUUID(), nodeId, finishedAt],
  );
}

async function prune() {
  const pool = createPool(api.database.systemUrl, { connectionsMax: 1, applicationName: 'prune' });
  const pruned = await pruneHistory(systemScope(pool), new Date());
  await pool.end();
  return pruned;
}

test.each(['nonsense', '1-2-3'])('Last-Event-ID %s is refused', async (id) => {
  const answer = await api.call('GET', `/clusters/${api.seed.clusterId}/events/stream`, {
    headers: { 'last-event-id': id },
  });
  expect(answer).toMatchObject({ status: 422, body: { errors: [{ pointer: 'Last-Event-ID' }] } });
});

async function insert(client: pg.Client, message: string): Promise<void> {
  const { organizationId, clusterId } = api.seed;
  await client.query(INSERT, [organizationId, clusterId, message]);
  await client.query(NOTIFY, [organizationId, clusterId]);
}

function openStream(lastEventId?: string): EventStreamClient {
  return EventStreamClient.open({ port, clusterId: api.seed.clusterId, token: api.seed.token }, lastEventId);
}
