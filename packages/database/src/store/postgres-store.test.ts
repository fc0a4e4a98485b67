import type { WakeUp } from '@holdfast/control/ports/queue.js';
import { changeSetting } from '@holdfast/control/use-cases/change-setting.js';
import { asId } from '@holdfast/core/model/ids.js';
import { holderProof } from '@holdfast/identity/copy-secret.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { emptyTables } from '@holdfast/testkit/empty-tables.js';
import { storeContract } from '@holdfast/testkit/store-contract.js';
import type { StoreUnderTest } from '@holdfast/testkit/store-under-test.js';
import { storedEvents } from '@holdfast/testkit/stored-events.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe } from '@jest/globals';
import pg from 'pg';
import { postgresAccess } from '../access/postgres-access.js';
import { setQuotaLimits } from '../queries/quotas.js';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope, systemScope, transaction } from '../sql/scope.js';
import { FleetReader } from './fleet-reader.js';
import { PostgresStore } from './postgres-store.js';

let database: TestDatabase;
let owner: pg.Client;
/** Kept for the suite: a new connection has to learn all tables again, which takes longer than most of these tests. */
let pools: Record<'system' | 'api', Pool>;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  const options = { connectionsMax: 5, applicationName: 'store-contract' };
  pools = {
    system: createPool(database.systemUrl, options),
    api: createPool(database.apiUrl, options),
  };
});

afterAll(async () => {
  await Promise.all(Object.values(pools ?? {}).map((pool) => pool.end()));
  await owner?.end();
  await database?.stop();
});

// Under row-level security: whatever a use case does in the API works there too.
describe('the Postgres store as the api role', () => storeContract(() => makeStore('api')));

// As workers use it: fleets are kept between reads.
describe('the Postgres store as the system role, with a fleet cache', () =>
  storeContract(() => makeStore('system', new FleetReader())));

/** One database for the suite; each test starts with empty tables. */
async function makeStore(role: 'system' | 'api', fleets?: FleetReader): Promise<StoreUnderTest> {
  await emptyTables(owner, ['organization', 'app_user', 'outbox']);
  const { organizationId, projectId, clusterId } = await seedTestDatabase(database);
  const tenant = { organizationId, projectId, clusterId };
  const pool = pools[role];
  const scope: Scope = role === 'system' ? systemScope(pool) : organizationScope(pool, tenant.organizationId);
  return {
    store: new PostgresStore(scope, fleets === undefined ? {} : { fleets }),
    tenant,
    takeWakeUps: () => takeWakeUps(scope),
    proofOf: holderProof,
    events: () => transaction(scope, storedEvents),
    setSetting: async (name, value) => {
      const ports = { access: postgresAccess(scope, tenant.organizationId), clock: { now: () => NOON } };
      await changeSetting(ports, tenant.clusterId, { name, value });
    },
    setQuota: async (of, limits) => {
      const id = of === 'project' ? tenant.projectId : tenant.organizationId;
      await transaction(scope, (sql) => setQuotaLimits(sql, id, { limits, fromVersion: 1 }));
    },
    stop: async () => undefined,
  };
}

async function takeWakeUps(scope: Scope): Promise<WakeUp[]> {
  const { rows } = await transaction(scope, (sql) =>
    sql.query<{ kind: 'volume' | 'cluster'; target_id: string }>(
      'DELETE FROM outbox RETURNING kind, target_id',
    ),
  );
  return rows.map(({ kind, target_id }) =>
    kind === 'volume' ? { kind, volumeId: asId(target_id) } : { kind, clusterId: asId(target_id) },
  );
}
