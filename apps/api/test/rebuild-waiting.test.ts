/** What a rebuild waits for, from the rows in Postgres through the real admission to what REST and GraphQL show. */
import { randomUUID } from 'node:crypto';
import { admitWork } from '@holdfast/control/reconcilers/admit-work.js';
import { WAITING_REASONS, type WaitingReason } from '@holdfast/core/model/rebuild.js';
import { systemClock } from '@holdfast/database/clock-and-random.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let pool: Pool;
let nodeId: string;
let volume: Json;

beforeAll(async () => {
  api = await ApiFixture.start();
  pool = createPool(api.database.systemUrl, { connectionsMax: 2, applicationName: 'admission' });
  nodeId = await api.node('node-1', 'zone-a');
  volume = await api.createVolume({ numberOfReplicas: 1 });
});
afterAll(async () => {
  await pool?.end();
  await api?.stop();
});

const ofVolume = (change: string) =>
  api.owner.query(`UPDATE volume SET ${change} WHERE id = $1`, [volume.id]);
const taskOf = (kind: string) => {
  const task = { kind, requestedAt: new Date(), tries: 0 };
  return ofVolume(`turn_at = now(), layer_task = '${JSON.stringify(task)}'`);
};
const setting = (name: string, value: number) =>
  api.call('PUT', `/clusters/${api.seed.clusterId}/settings/${name}`, { body: { value } });

const quota = (runningRebuilds: number | null) =>
  api.call('PUT', `/projects/${api.seed.projectId}/quota`, { body: { runningRebuilds } });

/** The limit of background tasks is theirs alone: no rebuild takes a place of it. */
type RebuildReason = Exclude<WaitingReason, 'TaskLimit'>;
const isOfRebuilds = (reason: WaitingReason): reason is RebuildReason => reason !== 'TaskLimit';

const CASES: Record<RebuildReason, () => Promise<unknown>> = {
  Paused: () => api.owner.query('UPDATE rebuild SET paused = true'),
  Preempted: async () => {
    await setting('concurrent-rebuild-per-cluster-limit', 0);
    const tuned = JSON.stringify({ paused: true });
    await api.owner.query(`UPDATE rebuild SET state = 'running', preempted_at = now(), tuned = $1`, [tuned]);
  },
  VolumePurging: () => taskOf('purge'),
  VolumeReverting: () => taskOf('revert'),
  VolumeExpanding: () => taskOf('expand'),
  VolumeMigrating: () => ofVolume(`rebuild_hold = 'migrating'`),
  VolumeRestoring: () => ofVolume(`rebuild_hold = 'restoring'`),
  VolumeStandby: () => ofVolume(`rebuild_hold = 'standby'`),
  TargetNodeLimit: () => setting('concurrent-replica-rebuild-per-node-limit', 0),
  SourceNodeLimit: () => setting('concurrent-rebuild-source-per-node-limit', 0),
  ClusterLimit: () => setting('concurrent-rebuild-per-cluster-limit', 0),
  QuotaLimit: async () => void (await Promise.all([quota(1), anotherRuns()])),
  QuotaZero: () => quota(0),
};

test.each(WAITING_REASONS.filter(isOfRebuilds))(
  '%s is shown by REST, by a filter and by GraphQL, and gone when it is over',
  async (reason) => {
    const id = await queued();
    const path = `/clusters/${api.seed.clusterId}/rebuilds`;
    expect(await api.call('GET', `${path}/${id}`)).toMatchObject({ body: { waitingReason: null } });
    await CASES[reason]();
    await admit();
    const { body: shown } = await api.call('GET', `${path}/${id}`);
    expect(shown).toMatchObject({ state: 'queued', waitingReason: reason, queuePosition: 1 });
    expect(String(shown.waitingFor)).not.toBe('');
    const { body: list } = await api.call('GET', `${path}?filter=waitingReason%3D${reason}`);
    // The estimate is made anew for each answer.
    const { eta: _, ...rest } = shown;
    expect(list.items).toMatchObject([rest]);
    const { body } = await api.graphql(
      `query($clusterId: ID!, $rebuildId: ID!) {
       rebuild(clusterId: $clusterId, rebuildId: $rebuildId) { waitingReason waitingFor } }`,
      { rebuildId: id },
    );
    expect(body.data.rebuild).toEqual({ waitingReason: reason, waitingFor: shown.waitingFor });

    await ofVolume('rebuild_hold = NULL, layer_task = NULL, turn_at = NULL');
    await api.owner.query('DELETE FROM setting');
    await quota(null);
    await api.owner.query('UPDATE rebuild SET paused = false');
    await admit();
    expect(await api.call('GET', `${path}/${id}`)).toMatchObject({
      body: { state: 'running', waitingReason: null, waitingFor: '' },
    });
  },
);

test('one that waits says when it will be done, from what the last ones took', async () => {
  const id = await queued();
  await ofVolume('written_bytes = 104857600');
  await api.owner.query(`UPDATE rebuild SET bytes = jsonb_set(bytes, '{total}', '0')`);
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at, started_at, finished_at, source_node_ids)
     SELECT $2, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, 'succeeded', 'done', 1, 4096,
       '{"total":104857600,"compared":0,"skipped":0,"sent":104857600,"written":0}', now(), now() - interval '40 s', now(), '{}'
     FROM rebuild WHERE id = $1`,
    [id, randomUUID()],
  );
  const { body } = await api.call('GET', `/clusters/${api.seed.clusterId}/rebuilds/${id}`);
  const { p50, p90 } = z.object({ p50: z.string(), p90: z.string() }).parse(body.eta);
  const inSeconds = (at: string) => Math.round((Date.parse(at) - Date.now()) / 1000);
  expect(inSeconds(p50)).toBeGreaterThan(35);
  expect(inSeconds(p50)).toBeLessThan(50);
  expect(inSeconds(p90)).toBeGreaterThanOrEqual(inSeconds(p50));
});

test('one that a person paused while it runs says so too', async () => {
  const id = await queued();
  await api.owner.query(`UPDATE rebuild SET state = 'running', paused = true`);
  expect(await api.call('GET', `/clusters/${api.seed.clusterId}/rebuilds/${id}`)).toMatchObject({
    body: { state: 'running', waitingReason: 'Paused', waitingFor: 'it is paused' },
  });
});

/** A second rebuild of the project, which has its one place. */
function anotherRuns() {
  return api.owner.query(
    `INSERT INTO rebuild SELECT (jsonb_populate_record(r, jsonb_build_object('id', $1::text, 'state', 'running'))).*
     FROM rebuild r`,
    [randomUUID()],
  );
}

/** As the worker does it for the cluster. */
function admit(): Promise<void> {
  const ports = {
    store: new PostgresStore(systemScope(pool)),
    queue: { wake: async () => undefined, wakeMany: async () => undefined },
    clock: systemClock,
  };
  return admitWork(ports, api.seed.clusterId);
}

async function queued(): Promise<string> {
  const id = randomUUID();
  await api.owner.query('DELETE FROM rebuild');
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at, source_node_ids)
     VALUES ($1, $2, $3, $4, $5, $6, 'queued', 'waiting', 1, 4096,
       '{"total":1,"compared":0,"skipped":0,"sent":104857600,"written":0}', now(), ARRAY[$6]::uuid[])`,
    [id, api.seed.organizationId, api.seed.clusterId, volume.id, randomUUID(), nodeId],
  );
  return id;
}
