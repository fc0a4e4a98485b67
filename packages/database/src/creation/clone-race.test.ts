/** A clone and the deletion of its source, requested at once on a real Postgres: one of them is refused. */
import { cloneVolume } from '@holdfast/control/use-cases/clone-volume.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestSnapshotDeletion } from '@holdfast/control/use-cases/snapshots.js';
import type { UseCasePorts } from '@holdfast/control/use-cases/use-case.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type DiskId, type SnapshotId, type VolumeId } from '@holdfast/core/model/ids.js';
import { aDiskReport, aHeartbeat, NOON, testId } from '@holdfast/testkit/builders.js';
import { AN_ENDPOINT, ON_ANY_NODE } from '@holdfast/testkit/lifecycle-builder.js';
import { outcome } from '@holdfast/testkit/store-fixture.js';
import {
  makeNodesReady,
  seedTestDatabase,
  startTestDatabase,
  type TestDatabase,
} from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { systemClock, systemRandom } from '../clock-and-random.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope } from '../sql/scope.js';
import { PostgresStore } from '../store/postgres-store.js';
import { CreationBatcher } from './creation-batcher.js';

const SNAPSHOT = asId<SnapshotId>(testId(601));

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;
let scope: Scope;
let batcher: CreationBatcher;
let owned: Pick<Parameters<typeof createVolume>[1], 'organizationId' | 'projectId' | 'clusterId'>;
let volumeId: VolumeId;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  pool = createPool(database.apiUrl, { connectionsMax: 5, applicationName: 'clone-race' });
});

beforeEach(async () => {
  await owner.query('TRUNCATE organization, app_user, outbox, audit_entry CASCADE');
  const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
  owned = { organizationId, projectId, clusterId };
  scope = organizationScope(pool, organizationId);
  batcher = new CreationBatcher((id) => organizationScope(pool, id));
  const disks = [aDiskReport(asId<DiskId>(testId(501)))];
  await new PostgresStore(scope).recordHeartbeat(clusterId, aHeartbeat('node-1', { disks }), NOON);
  await makeNodesReady(owner);
  const wish = { ...owned, name: 'source', sizeBytes: GIB, numberOfReplicas: 1 };
  ({ volumeId } = await createVolume(ports(), wish));
  await owner.query(
    `INSERT INTO snapshot (id, organization_id, volume_id, name, origin, state, created_at)
     VALUES ($1, $2, $3, 's', 'user', 'ready', now())`,
    [SNAPSHOT, organizationId, volumeId],
  );
  await toAttached();
});

afterAll(async () => {
  await owner?.end();
  await pool?.end();
  await database?.stop();
});

type Way = 'the batcher' | 'the store alone';

const deleteSnapshot = (rival?: () => Promise<unknown>) =>
  requestSnapshotDeletion(ports(rival), { volumeId, snapshotId: SNAPSHOT });
const deleteSource = (rival?: () => Promise<unknown>) => requestDelete(ports(rival), { volumeId });

describe.each<Way>(['the batcher', 'the store alone'])('through %s', (way) => {
  test('a snapshot that was cloned a moment ago is not deleted', async () => {
    expect(await outcome(deleteSnapshot(() => clone(way)))).toBe('snapshot.in_use');
    expect(await volumes()).toEqual(['copy', 'source']);
  });

  test('a snapshot that was deleted a moment ago is not cloned, and nothing stays booked', async () => {
    expect(await outcome(clone(way, () => deleteSnapshot()))).toBe('snapshot.in_use');
    expect(await volumes()).toEqual(['source']);
    const { rows } = await owner.query('SELECT sum(storage_scheduled_bytes) AS bytes FROM disk');
    expect(Number(rows[0].bytes)).toBe(GIB);
  });

  test('a volume of which a snapshot was cloned a moment ago is not deleted', async () => {
    await toDetached();
    expect(await outcome(deleteSource(() => clone(way)))).toBe('volume.in_use');
    expect(await volumes()).toEqual(['copy', 'source']);
  });

  test('a volume that was deleted a moment ago is not cloned', async () => {
    await toDetached();
    expect(await outcome(clone(way, () => deleteSource()))).toBe('snapshot.in_use');
    expect(await volumes()).toEqual([]);
  });

  test('many at once: what was cloned is there, what was deleted has no clone', async () => {
    const results = await Promise.all([outcome(clone(way)), outcome(deleteSnapshot()), outcome(clone(way))]);
    const { rows } = await owner.query('SELECT state FROM snapshot WHERE id = $1', [SNAPSHOT]);
    const isCloned = (await volumes()).includes('copy');
    expect([rows[0].state, results[1]]).toEqual(
      isCloned ? ['ready', 'snapshot.in_use'] : ['removing', 'done'],
    );
  });
});

/** With a rival, who acts once, between the first read of the source and the commit. */
function ports(rival: () => Promise<unknown> = async () => undefined): UseCasePorts {
  const store = new PostgresStore(scope);
  const load = store.loadVolume.bind(store);
  let isFirst = true;
  store.loadVolume = async (id) => {
    const view = await load(id);
    if (isFirst) {
      isFirst = false;
      await rival();
    }
    return view;
  };
  return { store, clock: systemClock, random: systemRandom };
}

function clone(way: Way, rival?: () => Promise<unknown>): Promise<VolumeId> {
  const { organizationId } = owned;
  const creations = way === 'the batcher' ? { creations: batcher.for({ organizationId }) } : {};
  const input = { volumeId, snapshotId: SNAPSHOT, name: 'copy' };
  return cloneVolume({ ...ports(rival), ...creations }, input);
}

async function volumes(): Promise<string[]> {
  const { rows } = await owner.query(
    'SELECT name FROM volume WHERE deletion_requested_at IS NULL ORDER BY name',
  );
  return rows.map(({ name }) => name);
}

function toAttached() {
  return owner.query(
    `UPDATE volume SET state = 'attached', attached_node_id = $2, attachment = $3, endpoint = $4 WHERE id = $1`,
    [volumeId, testId(301), JSON.stringify(ON_ANY_NODE), JSON.stringify(AN_ENDPOINT)],
  );
}

function toDetached() {
  return owner.query(
    `UPDATE volume SET state = 'detached', attached_node_id = NULL, attachment = NULL, endpoint = NULL WHERE id = $1`,
    [volumeId],
  );
}
