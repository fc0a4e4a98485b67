import { randomUUID } from 'node:crypto';
import { asId, type InvitationId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { seedTestDatabase, startTestDatabase, type TestDatabase } from '@holdfast/testkit/test-database.js';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { createPool, type Pool } from '../sql/pool.js';
import { systemScope, transaction } from '../sql/scope.js';
import { acceptInvitation, createInvitation } from './invitations.js';

let database: TestDatabase;
let pool: Pool;
let organizationId: OrganizationId;

beforeAll(async () => {
  database = await startTestDatabase();
  ({ organizationId } = await seedTestDatabase(database));
  pool = createPool(database.systemUrl, { connectionsMax: 1, applicationName: 'invitations' });
});

afterAll(async () => {
  await pool?.end();
  await database?.stop();
});

test('accepting gives an account that was made meanwhile neither a password nor a membership', async () => {
  const email = 'ada@example.test';
  const [userId, invitedBy] = [randomUUID(), asId<UserId>(randomUUID())];
  const now = new Date();
  const invitation = { id: asId<InvitationId>(randomUUID()), organizationId, email, role: 'viewer' } as const;
  const row = { ...invitation, invitedBy, createdAt: now, expiresAt: new Date(now.getTime() + 60_000) };
  await transaction(systemScope(pool), (sql) => createInvitation(sql, { ...row, secret: 'a secret' }));
  await pool.query(`INSERT INTO app_user (id, email, name, created_at) VALUES ($1, $2, 'Ada', now())`, [
    userId,
    email,
  ]);
  const id = asId<UserId>(randomUUID());
  const acceptor = { kind: 'new', id, name: 'Eve', passwordHash: 'of Eve' } as const;
  const outcome = await transaction(systemScope(pool), (sql) => acceptInvitation(sql, row, acceptor, now));
  expect(outcome).toBe('account_made');
  const { rows } = await pool.query(
    `SELECT u.id, u.password_hash, m.role FROM app_user u LEFT JOIN membership m ON m.user_id = u.id WHERE email = $1`,
    [email],
  );
  expect(rows).toEqual([{ id: userId, password_hash: null, role: null }]);
});
