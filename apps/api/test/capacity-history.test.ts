/** History of a cluster's capacity in Postgres: sampled as by the worker, pruned, and told by the API with a forecast. */
import { GIB } from '@holdfast/core/model/bytes.js';
import { sampleCapacity } from '@holdfast/database/capacity/sample-capacity.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

const STEP_MS = 300_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The last full hour, so that what a test samples lies behind the API's clock. */
const NOW_MS = Math.floor(Date.now() / HOUR_MS) * HOUR_MS;

let api: ApiFixture;
let pool: Pool;
let volume: Json;

beforeAll(async () => {
  api = await ApiFixture.start();
  pool = createPool(api.database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
  await api.node('node-1', 'zone-a');
  volume = await api.createVolume({ numberOfReplicas: 1, size: 2 * GIB });
});
afterAll(async () => {
  await pool?.end();
  await api?.stop();
});
beforeEach(() => api.owner.query('DELETE FROM capacity_sample; DELETE FROM rebuild'));

async function sampleAt(...times: number[]): Promise<void> {
  for (const ms of times) {
    await sampleCapacity(systemScope(pool), new Date(ms), (error) => {
      throw error;
    });
  }
}

async function capacity(query = ''): Promise<Json> {
  return (await api.call('GET', `/clusters/${api.seed.clusterId}/capacity${query}`)).body;
}

async function rebuild(state: string, sentBytes: number, finishedAt?: number): Promise<void> {
  const sent = JSON.stringify({ total: 9, compared: 0, skipped: 0, sent: sentBytes, written: 0 });
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase, healthy_copies,
       size_bytes, bytes, queued_at, finished_at)
     SELECT gen_random_uuid(), organization_id, cluster_id, id, gen_random_uuid(), gen_random_uuid(), $2, 'copying', 1, 9, $3, now(), $4
     FROM volume WHERE id = $1`,
    [volume.id, state, sent, finishedAt === undefined ? null : new Date(finishedAt)],
  );
}

describe('samples of capacity', () => {
  test('sum the disks up once a step, whichever worker comes first', async () => {
    await Promise.all([sampleAt(NOW_MS), sampleAt(NOW_MS), sampleAt(NOW_MS + 1_000)]);
    const { samples, stepSeconds } = await capacity();
    expect({ samples, stepSeconds }).toMatchObject({
      stepSeconds: 300,
      samples: [{ at: new Date(NOW_MS).toISOString(), scheduled: 2 * GIB, rebuildTraffic: 0 }],
    });
  });

  test('count what rebuilds have sent between two of them, of ended ones too', async () => {
    await rebuild('running', 100);
    await sampleAt(NOW_MS - 2 * STEP_MS);
    await api.owner.query("UPDATE rebuild SET bytes = jsonb_set(bytes, '{sent}', '250')");
    await rebuild('succeeded', 1_000, NOW_MS - STEP_MS - 1);
    await sampleAt(NOW_MS - STEP_MS, NOW_MS);
    expect(await capacity()).toMatchObject({
      samples: [{ rebuildTraffic: 0 }, { rebuildTraffic: 1_150 }, { rebuildTraffic: 0 }],
    });
  });

  test('make an hour of their steps, and are kept for two days and a quarter', async () => {
    await rebuild('running', 0);
    const begin = NOW_MS - 2 * HOUR_MS;
    for (const [index, sent] of [10, 20, 40].entries()) {
      await api.owner.query(`UPDATE rebuild SET bytes = jsonb_set(bytes, '{sent}', '${sent}')`);
      await sampleAt(begin + index * STEP_MS);
    }
    expect((await capacity('?days=3')).samples).toMatchObject([
      { at: new Date(begin).toISOString(), rebuildTraffic: 30 },
    ]);
    await sampleAt(begin - 3 * DAY_MS, begin - 93 * DAY_MS, NOW_MS);
    const { rows } = await api.owner.query(
      'SELECT step_seconds, count(*)::int AS count FROM capacity_sample GROUP BY 1 ORDER BY 1',
    );
    expect(rows).toEqual([
      { step_seconds: 300, count: 4 },
      { step_seconds: 3600, count: 3 },
    ]);
  });
});

describe('the forecast', () => {
  test('needs a day of history, and says so', async () => {
    await sampleAt(NOW_MS);
    expect((await capacity()).forecast).toMatchObject({
      verdict: 'unknown',
      days: null,
      sentence: expect.stringContaining('a forecast needs a day of history'),
    });
  });

  test('tells when the pace of the last days fills the cluster, over REST and GraphQL', async () => {
    await api.owner.query(
      `INSERT INTO capacity_sample
       SELECT organization_id, id, 3600, $2::timestamptz - make_interval(hours => h), $2, 1000, 1000, 0, 900 - h, 0, 0, 0
       FROM cluster, generate_series(0, 240) h WHERE id = $1`,
      [api.seed.clusterId, new Date(NOW_MS)],
    );
    const { forecast, stepSeconds } = await capacity('?days=92');
    // 24 bytes a day, and what may be promised is 1,000.
    expect(forecast).toMatchObject({ verdict: 'growing', limitedBy: 'promised', growthPerDay: 24, days: 4 });
    expect(stepSeconds).toBe(4 * 3_600);
    const { body } = await api.graphql(
      'query ($clusterId: ID!) { clusterCapacity(clusterId: $clusterId, days: 92) { stepSeconds forecast { days } } }',
    );
    expect(body).toMatchObject({ data: { clusterCapacity: { stepSeconds: 14_400, forecast: { days: 4 } } } });
  });

  test('refuses a span that no samples are kept for', async () => {
    const { status, body } = await api.call('GET', `/clusters/${api.seed.clusterId}/capacity?days=93`);
    expect([status, body.code]).toEqual([422, 'request.invalid']);
  });
});
