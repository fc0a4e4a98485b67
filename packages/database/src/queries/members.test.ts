import { randomUUID } from 'node:crypto';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { eventually } from '@holdfast/testkit/eventually.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, type Pool } from '../sql/pool.js';
import { organizationScope, type Scope, transaction } from '../sql/scope.js';
import { lockOwners, setMemberRole } from './members.js';

let database: TestDatabase;
let pool: Pool;
let scope: Scope;
let organizationId: OrganizationId;
const second = asId<UserId>(randomUUID());

beforeAll(async () => {
  database = await startTestDatabase();
  ({ organizationId } = await seedTestDatabase(database));
  pool = createPool(database.apiUrl, { connectionsMax: 3, applicationName: 'members' });
  scope = organizationScope(pool, organizationId);
  const system = createPool(database.systemUrl, { connectionsMax: 1, applicationName: 'members' });
  await system.query(
    `INSERT INTO app_user (id, email, name, created_at) VALUES ($1, 'second@example.test', 'Second', now())`,
    [second],
  );
  await system.query(
    `INSERT INTO membership (organization_id, user_id, role, created_at) VALUES ($1, $2, 'owner', now())`,
    [organizationId, second],
  );
  await system.end();
});

afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

test('who looks at the owners while one steps down waits, and sees those that are left', async () => {
  let stepDown: () => void = () => undefined;
  const mayStepDown = new Promise<void>((resolve) => {
    stepDown = resolve;
  });
  let looking: () => void = () => undefined;
  const isLooking = new Promise<void>((resolve) => {
    looking = resolve;
  });
  const leaving = transaction(scope, async (sql) => {
    expect(await lockOwners(sql)).toHaveLength(2);
    looking();
    await mayStepDown;
    await setMemberRole(sql, { organizationId, userId: second }, 'viewer');
  });
  await isLooking;
  let hasSeen = false;
  const late = transaction(scope, (sql) => lockOwners(sql)).finally(() => {
    hasSeen = true;
  });
  const waiting = `SELECT FROM pg_stat_activity WHERE application_name = 'members' AND wait_event_type = 'Lock'`;
  const isWaiting = async () => (await pool.query(waiting)).rowCount === 1;
  await eventually(
    'the second one waits',
    async () => hasSeen || (await isWaiting()),
    (passes) => passes,
  );
  expect(hasSeen).toBe(false);
  stepDown();
  await leaving;
  expect(await late).toHaveLength(1);
});
