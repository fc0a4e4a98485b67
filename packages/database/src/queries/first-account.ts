/**
 * First account of a fresh control plane: made with the one-time link that its installation printed.
 *
 * All of it needs the system scope, because there is no caller yet. The organization's row is locked while an account is made, so
 * that of two requests, in whichever processes, one finds the other's owner.
 */
import type { OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';

const LINK_HOURS = 1;

/** Stores a link in the place of an earlier one. Returns false when the organization has an owner, and needs none. */
export async function storeFirstLink(
  sql: Sql,
  { organizationId, secret, now }: { organizationId: OrganizationId; secret: string; now: Date },
): Promise<boolean> {
  if (await hasOwner(sql, organizationId)) return false;
  const expiresAt = new Date(now.getTime() + LINK_HOURS * 3_600_000);
  await withPlainRows(sql, async ({ firstLink }) => {
    const row = { secretHash: hashSecret(secret), expiresAt };
    await firstLink.upsert({
      where: { organizationId },
      create: { organizationId, ...row },
      update: row,
    });
  });
  return true;
}

/** Is it a link that can still be used? */
export function isFirstLink(sql: Sql, secret: string, now: Date): Promise<boolean> {
  return withPlainRows(sql, async ({ firstLink }) => {
    const where = { secretHash: hashSecret(secret), expiresAt: { gt: now } };
    return (await firstLink.count({ where })) > 0;
  });
}

export type FirstAccount = { id: UserId; email: string; name: string; passwordHash: string };

/**
 * Uses the link up, and makes the organization's first owner.
 *
 * @returns whose owner it is; `undefined`: there is no such link any more
 */
export async function useFirstLink(
  sql: Sql,
  secret: string,
  account: FirstAccount,
  now: Date,
): Promise<OrganizationId | undefined> {
  const { rows } = await sql.query<{ organization_id: OrganizationId }>(
    'DELETE FROM first_link WHERE secret_hash = $1 AND expires_at > $2 RETURNING organization_id',
    [hashSecret(secret), now],
  );
  const organizationId = rows[0]?.organization_id;
  if (organizationId === undefined || (await hasOwner(sql, organizationId))) return undefined;
  await withPlainRows(sql, async ({ user, membership }) => {
    await user.create({ data: { ...account, createdAt: now } });
    const member = { organizationId, userId: account.id, role: 'owner', createdAt: now };
    await membership.create({ data: member });
  });
  return organizationId;
}

/** The answer holds until the transaction ends. */
async function hasOwner(sql: Sql, organizationId: OrganizationId): Promise<boolean> {
  await sql.query('SELECT FROM organization WHERE id = $1 FOR UPDATE', [organizationId]);
  // A separate statement, which sees commits made while the first one waited.
  const { rowCount } = await sql.query(
    `SELECT FROM membership WHERE organization_id = $1 AND role = 'owner'`,
    [organizationId],
  );
  return rowCount > 0;
}
