import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { accessContract } from '@holdfast/testkit/access-contract.js';
import { testId } from '@holdfast/testkit/builders.js';
import { emptyTables } from '@holdfast/testkit/empty-tables.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, describe } from '@jest/globals';
import pg from 'pg';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope } from '../sql/scope.js';
import { postgresAccess } from './postgres-access.js';

let database: TestDatabase;
let owner: pg.Client;
let pool: Pool;

beforeAll(async () => {
  database = await startTestDatabase();
  owner = new pg.Client({ connectionString: database.ownerUrl });
  await owner.connect();
  pool = createPool(database.apiUrl, { connectionsMax: 3, applicationName: 'access-contract' });
});

afterAll(async () => {
  await pool?.end();
  await owner?.end();
  await database?.stop();
});

async function listed(sql: string): Promise<string[]> {
  const { rows } = await owner.query<{ text: string }>(sql);
  return rows.map(({ text }) => text);
}

describe('members, invitations and settings in Postgres, as the api role', () => {
  accessContract(async () => {
    await emptyTables(owner, ['organization', 'app_user', 'outbox']);
    const { organizationId, clusterId } = await seedTestDatabase(database);
    await owner.query('DELETE FROM membership');
    const otherOrganizationId = asId<OrganizationId>(testId(902));
    await owner.query("INSERT INTO organization (id, name, created_at) VALUES ($1, 'Other', now())", [
      otherOrganizationId,
    ]);
    return {
      access: postgresAccess(organizationScope(pool, organizationId), organizationId),
      organizationId,
      otherOrganizationId,
      clusterId,
      addMember: async (number, role) => {
        const userId = asId<UserId>(testId(number));
        const person = [userId, `user-${number}@example.test`];
        await owner.query(
          "INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'User', now())",
          person,
        );
        await owner.query(
          'INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, $3, now())',
          [organizationId, userId, role],
        );
        return userId;
      },
      invited: () => listed('SELECT email AS text FROM invitation ORDER BY email'),
      events: () => listed('SELECT type AS text FROM event ORDER BY id'),
    };
  });
});
