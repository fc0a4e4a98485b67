/** Quotas on a real Postgres, taken and given back by two processes at once: never passed, and counted as what there is. */
import { randomUUID } from 'node:crypto';
import type { QuotaLimits } from '@holdfast/access/quota.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { loadVolume } from '@holdfast/control/use-cases/use-case.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import { newLayerTask } from '@holdfast/core/model/layer-task.js';
import { wantedSnapshot } from '@holdfast/core/policy/decide-snapshot.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { SeededRandom } from '@holdfast/testkit/seeded-random.js';
import { outcome } from '@holdfast/testkit/store-fixture.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { systemClock, systemRandom } from '../clock-and-random.js';
import { findQuota, setQuotaLimits } from '../queries/quotas.js';
import type { LocalSeed } from '../seed-local.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope, transaction } from '../sql/scope.js';
import { PostgresStore } from '../store/postgres-store.js';
import { CreationBatcher } from './creation-batcher.js';

/** Of each process: its pool, its store and its batcher. */
type Process = { pool: Pool; store: PostgresStore; batcher: CreationBatcher };

let database: TestDatabase;
let owner: pg.Client;
let seed: LocalSeed;
let scope: Scope;
let processes: Process[];

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
});

beforeEach(async () => {
  await owner.query('TRUNCATE organization, app_user, outbox, audit_entry CASCADE');
  seed = await seedTestDatabase(database);
  await Promise.all((processes ?? []).map(({ pool }) => pool.end()));
  processes = ['one', 'two'].map((name) => {
    const pool = createPool(database.apiUrl, { connectionsMax: 4, applicationName: name });
    scope = organizationScope(pool, seed.organizationId);
    const batcher = new CreationBatcher((id) => organizationScope(pool, id));
    return { pool, store: new PostgresStore(scope), batcher };
  });
});

afterAll(async () => {
  await Promise.all((processes ?? []).map(({ pool }) => pool.end()));
  await owner?.end();
  await database?.stop();
});

const limit = (limits: QuotaLimits) =>
  transaction(scope, (sql) => setQuotaLimits(sql, seed.projectId, { limits, fromVersion: 1 }));

const wrongQuotas = async () => (await owner.query('SELECT * FROM wrong_quotas()')).rows;

/** A volume of one GiB with two copies, by the batcher or by the store alone. */
async function create({ store, batcher }: Process, isBatched = true): Promise<VolumeId> {
  const { organizationId, projectId, clusterId } = seed;
  const creations = isBatched ? { creations: batcher.for({ organizationId }) } : {};
  const wish = { organizationId, projectId, clusterId, sizeBytes: GIB, numberOfReplicas: 2 };
  const ports = { store, clock: systemClock, random: systemRandom, ...creations };
  return (await createVolume(ports, { ...wish, name: `v-${randomUUID().slice(0, 8)}` })).volumeId;
}

test('of two transactions that take the last of a quota, the second waits and is refused', async () => {
  await limit({ volumes: 1 });
  const begin = async () => {
    const client = new pg.Client({ connectionString: database.systemUrl });
    await client.connect();
    await client.query('BEGIN');
    await client.query(`INSERT INTO quota_change (organization_id, project_id, volumes) VALUES ($1, $2, 1)`, [
      seed.organizationId,
      seed.projectId,
    ]);
    return client;
  };
  const [first, second] = [await begin(), await begin()];
  // The work of a commit, without ending the transaction: the first one holds the row.
  await first.query('SET CONSTRAINTS ALL IMMEDIATE');
  const late = second.query('SET CONSTRAINTS ALL IMMEDIATE').then(
    () => 'taken',
    (error: Error & { code?: string }) => error.code,
  );
  await first.query('COMMIT');
  expect(await late).toBe('HQ001');
  await Promise.all([first.end(), second.end()]);
});

describe('many creations at once', () => {
  test.each([true, false])('by two processes stop at the limit (batched: %s)', async (isBatched) => {
    await limit({ volumes: 25 });
    const asked = Array.from({ length: 60 }, (_, index) => processes[index % 2]);
    const outcomes = await Promise.all(
      asked.flatMap((process) => (process === undefined ? [] : [outcome(create(process, isBatched))])),
    );
    const refused = outcomes.filter((one) => one !== 'done');
    expect(outcomes.filter((one) => one === 'done')).toHaveLength(25);
    expect(new Set(refused)).toEqual(new Set(['quota.exceeded']));
    const quota = await transaction(scope, (sql) => findQuota(sql, seed.projectId));
    expect(quota?.used).toMatchObject({ volumes: 25, provisionedBytes: 25 * GIB, physicalBytes: 50 * GIB });
    expect(await wrongQuotas()).toEqual([]);
  });

  test('a refusal says the numbers, and fails none that share its transaction', async () => {
    await limit({ physicalBytes: 4 * GIB });
    const [one] = processes;
    if (one === undefined) throw new Error('there are two');
    const answers = await Promise.allSettled([create(one), create(one), create(one)]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected']);
    const refused = answers.find((answer) => answer.status === 'rejected');
    const why = 'the project may have 4 GiB of physical bytes; it has 4 GiB, and this needs 2 GiB more';
    expect(refused?.reason).toMatchObject({ message: why });
  });
});

test.each([1, 2, 3])(
  'any changes of two processes keep what is counted within the limits (seed %s)',
  async (number) => {
    const limits = { volumes: 12, snapshots: 6, provisionedBytes: 20 * GIB, physicalBytes: 34 * GIB };
    await limit(limits);
    const outcomes = new Set<string>();
    const worker = async (process: Process, random: SeededRandom) => {
      for (let step = 0; step < 40; step += 1) {
        const result = await outcome(anyChange(process, random));
        outcomes.add(result);
        const { rows } = await owner.query(
          'SELECT id FROM quota WHERE id = $1 AND (volumes > $2 OR snapshots > $3 OR physical_bytes > $4)',
          [seed.projectId, limits.volumes, limits.snapshots, limits.physicalBytes],
        );
        if (rows.length > 0) outcomes.add('a limit was passed');
      }
    };
    await Promise.all(
      processes.flatMap((process, index) =>
        [0, 1].map((lane) => worker(process, new SeededRandom(number * 100 + index * 10 + lane))),
      ),
    );
    const lawful = ['done', 'quota.exceeded', 'store.conflict', 'volume.not_found'];
    expect([...outcomes].filter((one) => !lawful.includes(one))).toEqual([]);
    expect(outcomes).toContain('quota.exceeded');
    expect(await wrongQuotas()).toEqual([]);
  },
);

/** Creates, grows, shrinks, copies, snapshots or deletes, as chance has it. */
async function anyChange(process: Process, random: SeededRandom): Promise<void> {
  const { rows } = await owner.query<{ id: VolumeId }>('SELECT id FROM volume ORDER BY id');
  const volumeId = rows[random.below(Math.max(1, rows.length))]?.id;
  const what = random.below(8);
  if (volumeId === undefined || what < 3) {
    await create(process, what === 0);
    return;
  }
  const { volume, snapshots } = await loadVolume(process.store, volumeId, undefined);
  const guard = { kind: 'volume', volumeId, ifVersion: volume.version } as const;
  const patch = (part: object) =>
    process.store.commit(guard, [{ kind: 'volume.patch', volumeId, patch: part }]);
  if (what === 3) {
    const asked = { kind: 'expand' as const, sizeBytes: (2 + random.below(3)) * GIB, fromBytes: GIB };
    const task = newLayerTask(asked, { id: randomUUID(), requestedAt: NOON });
    await patch({ task: volume.task === undefined ? task : undefined });
  } else if (what === 4) {
    await patch({ spec: { ...volume.spec, numberOfReplicas: 1 + random.below(4) } });
  } else if (what === 5) {
    const wanted = wantedSnapshot(volumeId, { name: randomUUID(), recurringName: undefined }, NOON);
    const snapshot = { ...wanted, id: asId<SnapshotId>(randomUUID()) };
    await process.store.commit(guard, [{ kind: 'snapshot.create', snapshot }]);
  } else if (what === 6 && snapshots[0] !== undefined) {
    await process.store.commit(guard, [{ kind: 'snapshot.delete', snapshotId: snapshots[0].id }]);
  } else {
    const { replicas } = await loadVolume(process.store, volumeId, undefined);
    const gone = replicas.map(({ id }) => ({ kind: 'replica.delete', replicaId: id }) as const);
    await process.store.commit(guard, [...gone, { kind: 'volume.delete', volumeId }]);
  }
}
