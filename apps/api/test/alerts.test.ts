/** Alerts of a cluster in Postgres, as the worker evaluates them and the API shows them. */
import { evaluateAlerts } from '@holdfast/database/alerts/evaluate-alerts.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { makeNodesReady } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { type Answer, ApiFixture } from './api-fixture.js';

const DAY_MS = 24 * 3_600_000;

let api: ApiFixture;
let pool: Pool;
let alerts: string;
let silences: string;
let nodeId: string;

beforeAll(async () => {
  api = await ApiFixture.start();
  pool = createPool(api.database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
  alerts = `/clusters/${api.seed.clusterId}/alerts`;
  silences = `/clusters/${api.seed.clusterId}/silences`;
  nodeId = await api.node('node-1', 'zone-a');
  await api.createVolume({ numberOfReplicas: 1 });
});
afterAll(async () => {
  await pool?.end();
  await api?.stop();
});
beforeEach(async () => {
  await api.owner.query('DELETE FROM alert; DELETE FROM silence; DELETE FROM event');
  await makeNodesReady(api.owner);
});

const codeOf = ({ status, body }: Answer) => [status, body.code];
const evaluate = () =>
  evaluateAlerts(systemScope(pool), new Date(), (error) => {
    throw error;
  });
const firing = async () => (await api.call('GET', `${alerts}?filter=state!=resolved`)).body.items ?? [];
const told = async () => {
  const { rows } = await api.owner.query(`SELECT type FROM event WHERE subject_kind = 'alert' ORDER BY id`);
  return rows.map(({ type }) => type);
};
const inAnHour = () => new Date(Date.now() + 3_600_000).toISOString();
const silence = (body: object = {}) =>
  api.call('POST', silences, {
    body: { matcher: 'rule=NodeSilent', comment: 'it is moved', endsAt: inAnHour(), ...body },
  });

/** The worker has found it silent two minutes ago. */
async function fallsSilent(): Promise<void> {
  const since = new Date(Date.now() - 120_000).toISOString();
  const silent = { type: 'Ready', status: 'False', reason: 'Silent', message: '', lastTransitionAt: since };
  await api.owner.query('UPDATE node SET conditions = $1 WHERE id = $2', [JSON.stringify([silent]), nodeId]);
}

describe('an alert', () => {
  test('says of volumes whose copies differ, and since when', async () => {
    const { rows } = await api.owner.query<{ id: string; conditions: object[] }>(
      'SELECT id, conditions FROM volume LIMIT 1',
    );
    const [volume] = rows;
    const lastTransitionAt = new Date(Date.now() - 60_000).toISOString();
    const differs = {
      type: 'CopiesDiffer',
      status: 'True',
      reason: 'NoMajority',
      message: '',
      lastTransitionAt,
    };
    const set = (conditions: object[] | undefined) =>
      api.owner.query('UPDATE volume SET conditions = $1 WHERE id = $2', [
        JSON.stringify(conditions),
        volume?.id,
      ]);
    await set([differs]);
    await evaluate();
    expect(await firing()).toMatchObject([
      { rule: 'CopiesDiffer', severity: 'error', since: lastTransitionAt },
    ]);
    await set([{ ...differs, status: 'False' }]);
    await evaluate();
    expect(await firing()).toEqual([]);
    await set(volume?.conditions);
  });

  test('fires once, with its effects, and ends with its cause', async () => {
    await evaluate();
    expect(await firing()).toEqual([]);
    await fallsSilent();
    const other = await pool.connect();
    await other.query('BEGIN');
    await other.query(`SELECT pg_advisory_xact_lock(hashtextextended('alerts ' || $1::text, 0))`, [
      api.seed.clusterId,
    ]);
    // As while another worker evaluates them.
    await evaluate();
    expect(await firing()).toEqual([]);
    await other.query('COMMIT');
    other.release();
    await evaluate();
    await evaluate();
    expect(await firing()).toMatchObject([
      {
        rule: 'NodeSilent',
        severity: 'error',
        state: 'firing',
        subject: { kind: 'node', id: nodeId, name: 'node-1' },
        effects: { copies: 1, volumesServedThere: 0 },
      },
    ]);
    expect(await told()).toEqual(['CriticalAlertFired']);
    await silence();
    await evaluate();
    expect(await firing()).toMatchObject([{ state: 'silenced' }]);
    await makeNodesReady(api.owner);
    await evaluate();
    expect(await firing()).toEqual([]);
    expect(await told()).toEqual(['CriticalAlertFired', 'AlertResolved']);
    const [gone] = (await api.call('GET', alerts)).body.items ?? [];
    expect((await api.call('GET', `${alerts}/${gone?.id}`)).body).toMatchObject({ state: 'resolved' });
  });

  test('is not told under a silence, and is when that is ended', async () => {
    const made = await silence();
    expect(made.status).toBe(201);
    await fallsSilent();
    await evaluate();
    expect(await firing()).toMatchObject([{ state: 'silenced', silenceId: made.body.id }]);
    expect(await told()).toEqual([]);
    const ended = await api.call('DELETE', `${silences}/${made.body.id}`);
    expect(ended).toMatchObject({ status: 200, body: { comment: 'it is moved', version: 2 } });
    await evaluate();
    expect(await firing()).toMatchObject([{ state: 'firing', silenceId: null }]);
    expect(await told()).toEqual(['CriticalAlertFired']);
  });

  test.each([
    [
      'a disk that is nearly full',
      `UPDATE disk SET storage_available_bytes = storage_maximum_bytes / 100`,
      'DiskNearlyFull',
    ],
    [
      'a copy without a place',
      `UPDATE replica SET disk_id = NULL, node_id = NULL, created_at = now() - interval '1 hour'`,
      'CopiesWithoutPlace',
    ],
    [
      'a volume without a full copy',
      `UPDATE volume SET robustness = 'faulted'; UPDATE replica SET healthy_at = NULL`,
      'VolumesFaulted',
    ],
    [
      "an authority's end",
      `INSERT INTO authority (id, certificate, key, signs_from, not_after, created_at)
       VALUES (gen_random_uuid(), '', '', now(), now(), now());
       UPDATE authority SET not_after = now() + interval '1 day'`,
      'AuthorityExpires',
    ],
    [
      'a certificate that is not renewed',
      `INSERT INTO node_identity (node_id, organization_id, cluster_id, name, key_hash, joined_at, certificate_not_after)
       SELECT id, organization_id, cluster_id, name, 'h', now(), now() + interval '1 hour' FROM node
       ON CONFLICT (node_id) DO UPDATE SET certificate_not_after = excluded.certificate_not_after`,
      'CertificateExpires',
    ],
  ])('tells of %s', async (_what, change, rule) => {
    await evaluate();
    expect((await firing()).map((one) => one.rule)).not.toContain(rule);
    await api.owner.query(change);
    await evaluate();
    expect((await firing()).map((one) => one.rule)).toContain(rule);
  });
});

describe('a silence', () => {
  test.each([
    { name: 'that matches all', wrong: { matcher: ' ' } },
    { name: 'of no field', wrong: { matcher: 'colour=red' } },
    { name: 'that is over', wrong: { endsAt: '2020-01-01T00:00:00Z' } },
    { name: 'for ever', wrong: { endsAt: '2100-01-01T00:00:00Z' } },
    {
      name: 'for a day more than ninety',
      wrong: { endsAt: new Date(Date.now() + 91 * DAY_MS).toISOString() },
    },
    {
      name: 'that ends before it begins',
      wrong: { startsAt: new Date(Date.now() + 7_200_000).toISOString() },
    },
  ])('$name is refused', async ({ wrong }) => {
    expect(codeOf(await silence(wrong))).toEqual([422, 'request.invalid']);
  });

  test('names who made it, is listed, and ends once', async () => {
    const { body } = await silence();
    const { body: me } = await api.call('GET', '/sessions/current');
    expect((await api.call('GET', silences)).body.items).toMatchObject([{ id: body.id, author: me.userId }]);
    const first = await api.call('DELETE', `${silences}/${body.id}`);
    const second = await api.call('DELETE', `${silences}/${body.id}`);
    expect(second.body).toEqual(first.body);
    const query = `{ silences(clusterId: "${api.seed.clusterId}") { edges { node { comment } } } }`;
    const answer = await api.graphql(query);
    expect(answer.body.data.silences.edges).toEqual([{ node: { comment: 'it is moved' } }]);
  });
});
