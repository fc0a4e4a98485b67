/**
 * A job changes what it names and nothing of another organization's or project's, whatever id it holds. There is a case for each
 * kind of job: the table does not compile without one.
 */
import type { AgentTarget } from '@holdfast/control/ports/agent-client.js';
import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { reconcileCluster } from '@holdfast/control/reconcilers/reconcile-cluster.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import type { ReconcilerPorts } from '@holdfast/control/reconcilers/reconciler-ports.js';
import { createVolume } from '@holdfast/control/use-cases/create-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type VolumeId } from '@holdfast/core/model/ids.js';
import { systemClock, systemRandom } from '@holdfast/database/clock-and-random.js';
import { createPool, type Pool } from '@holdfast/database/sql/pool.js';
import { systemScope } from '@holdfast/database/sql/scope.js';
import { PostgresStore } from '@holdfast/database/store/postgres-store.js';
import { aDiskReport, aHeartbeat, type TestTenant } from '@holdfast/testkit/builders.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';

type Tenant = TestTenant & { readonly volumeIds: readonly VolumeId[] };

let database: TestDatabase;
let system: Pool;
let ports: ReconcilerPorts;
let own: Tenant;
let foreign: Tenant;
/** Nodes whose agents were asked for anything. */
const asked = new Set<string>();

/** What runs for a job of each kind. */
const RUN: Record<WakeUp['kind'], (id: string) => Promise<unknown>> = {
  volume: (id) => reconcileVolume(ports, asId(id)),
  cluster: (id) => reconcileCluster(ports, asId(id)),
};
const KINDS: readonly WakeUp['kind'][] = ['volume', 'cluster'];

beforeAll(async () => {
  database = await startTestDatabase();
  system = createPool(database.systemUrl, { connectionsMax: 3, applicationName: 'test' });
  const store = new PostgresStore(systemScope(system));
  const copySecrets = { forEngine: () => 'engine', forSnapshot: () => 'snapshot' };
  const now = { clock: systemClock, random: systemRandom };
  const queue = { wake: () => Promise.resolve() };
  ports = { store, agents: silentAgents(), queue, ...now, copySecrets, startedAt: new Date() };
  const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
  own = await withWork({ organizationId, projectId, clusterId }, 'own');
  foreign = await withWork(await otherTenant(), 'foreign');
});

afterAll(async () => {
  await system?.end();
  await database?.stop();
});

describe("another organization's rows and nodes", () => {
  test('stay as they are while all jobs of one run, to their end', async () => {
    const before = await rowsOf(foreign);
    const ownBefore = await rowsOf(own);
    for (let round = 0; round < 5; round += 1) {
      await RUN.cluster(own.clusterId);
      for (const volumeId of own.volumeIds) await RUN.volume(volumeId);
    }
    expect(await rowsOf(own)).not.toEqual(ownBefore);
    expect(await rowsOf(foreign)).toEqual(before);
    const { rows } = await system.query('SELECT name FROM node WHERE cluster_id = $1', [own.clusterId]);
    expect(asked.size).toBeGreaterThan(0);
    expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining([...asked]));
  });
});

describe("another project's volumes", () => {
  test('stay as they are while the job of a volume runs', async () => {
    const [volumeId] = foreign.volumeIds;
    const projectId = systemRandom.id();
    await system.query(
      'INSERT INTO project (id, organization_id, name, created_at) VALUES ($1, $2, $3, now())',
      [projectId, foreign.organizationId, 'second'],
    );
    await system.query('UPDATE volume SET project_id = $1 WHERE id <> $2 AND organization_id = $3', [
      projectId,
      volumeId,
      foreign.organizationId,
    ]);
    const others = () =>
      system.query(
        `SELECT to_jsonb(v), (SELECT jsonb_agg(to_jsonb(r) ORDER BY r.id) FROM replica r WHERE r.volume_id = v.id)
         FROM volume v WHERE project_id = $1 ORDER BY v.id`,
        [projectId],
      );
    const before = (await others()).rows;
    expect(before.length).toBeGreaterThan(1);
    for (let round = 0; round < 5; round += 1) await RUN.volume(String(volumeId));
    expect((await others()).rows).toEqual(before);
  });
});

describe('an id that is of another kind, or of nothing', () => {
  test.each(KINDS)('leads a job of a %s to nothing', async (kind) => {
    const { rows } = await system.query(
      `SELECT id FROM organization UNION ALL SELECT id FROM project UNION ALL SELECT id FROM node UNION ALL SELECT id FROM disk
       UNION ALL SELECT id FROM replica UNION ALL SELECT id FROM token UNION ALL SELECT id FROM app_user
       UNION ALL SELECT id FROM volume WHERE $1::text <> 'volume' UNION ALL SELECT id FROM cluster WHERE $1 <> 'cluster'`,
      [kind],
    );
    const before = [await rowsOf(own), await rowsOf(foreign)];
    asked.clear();
    for (const id of [systemRandom.id(), ...rows.map((row) => String(row.id))]) {
      // Refused as not there, or nothing to do; either way nothing has changed.
      await RUN[kind](id).catch((error: unknown) => expect(error).toBeInstanceOf(StorageFault));
    }
    expect([await rowsOf(own), await rowsOf(foreign)]).toEqual(before);
    expect([...asked]).toEqual([]);
  });
});

/** Three nodes and volumes with work to do: to be placed, to be attached, to be deleted. */
async function withWork(owner: TestTenant, prefix: string): Promise<Tenant> {
  const { store } = ports;
  for (const number of [1, 2, 3]) {
    const name = `${prefix}-node-${number}`;
    const disk = aDiskReport(asId(systemRandom.id()));
    const node = { bootId: systemRandom.id(), zone: `zone-${number}` };
    await store.recordHeartbeat(owner.clusterId, aHeartbeat(name, { node, disks: [disk] }));
  }
  await reconcileCluster(ports, owner.clusterId);
  const volumeIds: VolumeId[] = [];
  for (const name of ['placed', 'attached', 'deleted']) {
    const volume = { ...owner, name: `${prefix}-${name}`, sizeBytes: GIB, numberOfReplicas: 3 };
    const { volumeId } = await createVolume(ports, volume);
    volumeIds.push(volumeId);
  }
  const [, attached, deleted] = volumeIds;
  if (attached !== undefined) await requestAttach(ports, { volumeId: attached });
  if (deleted !== undefined) await requestDelete(ports, { volumeId: deleted });
  return { ...owner, volumeIds };
}

async function otherTenant(): Promise<TestTenant> {
  const ids = { organization: systemRandom.id(), project: systemRandom.id(), cluster: systemRandom.id() };
  const { organization, project, cluster } = ids;
  await system.query('INSERT INTO organization (id, name, created_at) VALUES ($1, $2, now())', [
    organization,
    'foreign',
  ]);
  for (const [table, id] of Object.entries({ project, cluster })) {
    await system.query(
      `INSERT INTO ${table} (id, organization_id, name, created_at) VALUES ($1, $2, 'foreign', now())`,
      [id, organization],
    );
  }
  return { organizationId: asId(organization), projectId: asId(project), clusterId: asId(cluster) };
}

/** All rows of an organization, of every table that has such. */
async function rowsOf({ organizationId }: Tenant): Promise<Record<string, unknown>> {
  const { rows: tables } = await system.query(
    `SELECT c.relname AS name FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
     WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r' AND a.attname = 'organization_id' ORDER BY 1`,
  );
  const all: Record<string, unknown> = {};
  for (const { name } of tables) {
    const { rows } = await system.query(
      `SELECT to_jsonb(t) AS row FROM "${name}" t WHERE organization_id = $1 ORDER BY 1`,
      [organizationId],
    );
    all[name] = rows;
  }
  return all;
}

/** Agents that don't answer, and whose nodes are noted. */
function silentAgents(): ReconcilerPorts['agents'] {
  const refuse = (agent: AgentTarget): Promise<never> => {
    asked.add(agent.name);
    return Promise.reject(new StorageFault('agent.unreachable', { publicMessage: 'it is silent' }));
  };
  return {
    createReplica: refuse,
    describeReplica: refuse,
    describeCopy: refuse,
    deleteReplica: refuse,
    removeOrphan: refuse,
    openReplica: refuse,
    checksumReplica: refuse,
    startEngine: refuse,
    stopEngine: refuse,
    command: refuse,
  };
}
