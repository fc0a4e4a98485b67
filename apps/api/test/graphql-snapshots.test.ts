/** Each mutation over snapshots and rebuilds: what it does, the refusal it shares with REST, and who may not. */
import { randomUUID } from 'node:crypto';
import { GIB } from '@holdfast/core/model/bytes.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiFixture, type Json } from './api-fixture.js';

let api: ApiFixture;
let nodeId: string;
let viewer: string;
let volume: Json;
const SNAPSHOT = randomUUID();
const REBUILD = randomUUID();

beforeAll(async () => {
  api = await ApiFixture.start();
  for (const zone of ['a', 'b', 'c']) nodeId = await api.node(`node-${zone}`, `zone-${zone}`);
  viewer = await api.tokenOfRole('viewer');
  volume = await api.createAttachedVolume(nodeId);
  await api.owner.query(
    `INSERT INTO snapshot (id, organization_id, volume_id, name, origin, state, created_at)
     VALUES ($1, $2, $3, 'there', 'user', 'ready', now())`,
    [SNAPSHOT, api.seed.organizationId, volume.id],
  );
  await api.owner.query(
    `INSERT INTO rebuild (id, organization_id, cluster_id, volume_id, target_replica_id, target_node_id, state, phase,
       healthy_copies, size_bytes, bytes, queued_at)
     VALUES ($1, $2, $3, $4, $5, $6, 'queued', 'waiting', 1, 4096, '{}', now())`,
    [REBUILD, api.seed.organizationId, api.seed.clusterId, volume.id, randomUUID(), nodeId],
  );
});
afterAll(() => api?.stop());

async function run(text: string, token?: string) {
  const { body } = await api.graphql(text, {}, token);
  return {
    data: body.data,
    code: body.errors?.[0]?.extensions?.code as string | undefined,
    errors: body.errors,
  };
}
const of = (extra = '') => `clusterId: "${api.seed.clusterId}", volumeId: "${volume.id}"${extra}`;
const rebuild = () => `clusterId: "${api.seed.clusterId}", rebuildId: "${REBUILD}"`;
const snapshotArg = (id = SNAPSHOT) => `, snapshotId: "${id}"`;
const BANDWIDTH = 'replica-rebuilding-bandwidth-limit';
const NOWHERE = '01a1fd5b-0000-7000-8000-00000000ffff';

describe('mutations', () => {
  test.each<{ name: string; ask: () => string; want: object; bad: () => string; code: string }>([
    {
      name: 'createSnapshot',
      ask: () => `createSnapshot(${of()}, input: { name: "gql" }) { name state }`,
      want: { name: 'gql', state: 'creating' },
      bad: () => `createSnapshot(${of()}, input: { name: "gql" }) { name }`,
      code: 'snapshot.name_taken',
    },
    {
      name: 'hashSnapshot',
      ask: () => `hashSnapshot(${of(snapshotArg())}, input: { force: true }) { isHashing }`,
      want: { isHashing: true },
      bad: () => `hashSnapshot(${of(snapshotArg(NOWHERE))}, input: {}) { id }`,
      code: 'snapshot.not_found',
    },
    {
      name: 'cloneVolume',
      ask: () =>
        `cloneVolume(${of()}, input: { snapshotId: "${SNAPSHOT}", name: "gql-clone" }) { name fill { snapshotId } }`,
      want: { name: 'gql-clone', fill: { snapshotId: SNAPSHOT } },
      bad: () => `cloneVolume(${of()}, input: { snapshotId: "${SNAPSHOT}", name: "gql-clone" }) { id }`,
      code: 'volume.name_taken',
    },
    {
      name: 'purgeSnapshots',
      ask: () => `purgeSnapshots(${of()}) { task { kind state } }`,
      want: { task: { kind: 'purge', state: 'waiting' } },
      bad: () => `purgeSnapshots(clusterId: "${api.seed.clusterId}", volumeId: "${NOWHERE}") { id }`,
      code: 'volume.not_found',
    },
    {
      name: 'revertVolume',
      ask: () => `revertVolume(${of()}, input: { snapshotId: "${SNAPSHOT}" }) { task { kind snapshotId } }`,
      want: { task: { kind: 'revert', snapshotId: SNAPSHOT } },
      bad: () => `revertVolume(${of()}, input: { snapshotId: "${NOWHERE}" }) { id }`,
      code: 'snapshot.not_found',
    },
    {
      name: 'deleteSnapshot, of what is being cloned and reverted to,',
      ask: () => `snapshot(${of(snapshotArg())}) { state }`,
      want: { state: 'ready' },
      bad: () => `deleteSnapshot(${of(snapshotArg())}) { id }`,
      code: 'snapshot.in_use',
    },
    {
      name: 'pauseRebuild',
      ask: () => `pauseRebuild(${rebuild()}) { paused }`,
      want: { paused: true },
      bad: () => `pauseRebuild(clusterId: "${api.seed.clusterId}", rebuildId: "${NOWHERE}") { id }`,
      code: 'rebuild.not_found',
    },
    {
      name: 'resumeRebuild',
      ask: () => `resumeRebuild(${rebuild()}) { paused }`,
      want: { paused: false },
      bad: () => `resumeRebuild(clusterId: "${api.seed.clusterId}", rebuildId: "${NOWHERE}") { id }`,
      code: 'rebuild.not_found',
    },
    {
      name: 'patchRebuild',
      ask: () =>
        `patchRebuild(${rebuild()}, input: { bandwidthBytesPerSecond: 2097152 }) { bandwidthBytesPerSecond }`,
      want: { bandwidthBytesPerSecond: 2_097_152 },
      bad: () => `patchRebuild(${rebuild()}, input: { bandwidthBytesPerSecond: 1 }) { id }`,
      code: 'request.invalid',
    },
    {
      name: 'cancelRebuild',
      ask: () => `cancelRebuild(${rebuild()}) { state }`,
      want: { state: 'cancelled' },
      bad: () => `pauseRebuild(${rebuild()}) { state }`,
      code: 'rebuild.finished',
    },
    {
      name: 'setSetting',
      ask: () =>
        `setSetting(clusterId: "${api.seed.clusterId}", name: "${BANDWIDTH}", input: { value: 40 }) { name value isDefault }`,
      want: { name: BANDWIDTH, value: 40, isDefault: false },
      bad: () =>
        `setSetting(clusterId: "${api.seed.clusterId}", name: "${BANDWIDTH}", input: { value: -1 }) { name }`,
      code: 'setting.invalid',
    },
    {
      name: 'resetSetting',
      ask: () => `resetSetting(clusterId: "${api.seed.clusterId}", name: "${BANDWIDTH}") { value isDefault }`,
      want: { value: 0, isDefault: true },
      bad: () => `resetSetting(clusterId: "${api.seed.clusterId}", name: "speed") { value }`,
      code: 'setting.not_found',
    },
    {
      name: 'setRecurringSnapshot',
      ask: () =>
        `setRecurringSnapshot(${of()}, recurringName: "nightly", input: { cron: "@daily", retain: 3 }) { name retain }`,
      want: { name: 'nightly', retain: 3 },
      bad: () =>
        `setRecurringSnapshot(${of()}, recurringName: "nightly", input: { cron: "x", retain: 3 }) { name }`,
      code: 'request.invalid',
    },
    {
      name: 'deleteRecurringSnapshot',
      ask: () => `deleteRecurringSnapshot(${of()}, recurringName: "nightly") { name }`,
      want: { name: 'nightly' },
      bad: () => `deleteRecurringSnapshot(${of()}, recurringName: "nightly") { name }`,
      code: 'recurring_snapshot.not_found',
    },
  ])(
    '$name answers with what it did, is refused as in REST and forbidden to a viewer',
    async ({ ask, want, bad, code }) => {
      const kind = ask().startsWith('snapshot(') ? 'query' : 'mutation';
      const denied = await run(`mutation { answer: ${bad()} }`, viewer);
      expect(denied.code).toBe('auth.forbidden');
      const done = await run(`${kind} { answer: ${ask()} }`);
      expect(done.errors).toBeUndefined();
      expect(done.data.answer).toEqual(want);
      const refused = await run(`mutation { answer: ${bad()} }`);
      expect([refused.data, refused.code]).toEqual([null, code]);
    },
  );

  test('deleteSnapshot and expandVolume do as in REST', async () => {
    volume = await api.createAttachedVolume(nodeId);
    const made = await run(`mutation { answer: createSnapshot(${of()}, input: {}) { id } }`);
    const { id } = made.data.answer;
    const taken = await run(`mutation { answer: deleteSnapshot(${of(snapshotArg(id))}) { id } }`);
    expect(taken.code).toBe('snapshot.in_use');
    await api.owner.query(`UPDATE snapshot SET state = 'ready' WHERE id = $1`, [id]);
    const deleted = await run(`mutation { answer: deleteSnapshot(${of(snapshotArg(id))}) { state } }`);
    expect(deleted.data.answer).toEqual({ state: 'removing' });
    const grow = `mutation { answer: expandVolume(${of()}, input: { size: ${2 * GIB} }) { id } }`;
    expect((await run(grow, viewer)).code).toBe('auth.forbidden');
    const grown = await run(
      `mutation { answer: expandVolume(${of()}, input: { size: ${2 * GIB} }) { task { kind size } } }`,
    );
    expect(grown.data.answer).toEqual({ task: { kind: 'expand', size: 2 * GIB } });
    const shrunk = await run(`mutation { answer: expandVolume(${of()}, input: { size: 4096 }) { id } }`);
    expect(shrunk.code).toBe('volume.busy');
  });
});
