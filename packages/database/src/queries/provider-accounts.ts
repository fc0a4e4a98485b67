/** Accounts of users whom an OpenID provider vouches for. Needs the system scope: the caller has no session yet. */

import { type OrganizationRole, weakerRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';
import { endLeftBehind } from './left-behind.js';

/** The organization that users of the provider sign in to. */
export function findOrganizationByName(sql: Sql, name: string): Promise<OrganizationId | undefined> {
  return withPlainRows(sql, async ({ organization }) => {
    const row = await organization.findUnique({ where: { name }, select: { id: true } });
    return row === null ? undefined : asId<OrganizationId>(row.id);
  });
}

export type ProviderAccount = {
  readonly issuer: string;
  /** The provider's name for the user, which never changes. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly organizationId: OrganizationId;
  readonly role: OrganizationRole;
  /** Of the user, where there is none yet. */
  readonly newUserId: UserId;
  readonly now: Date;
};

export type SignedInAccount = {
  readonly userId: UserId;
  readonly role: OrganizationRole;
  /** The account was there with a password, which has ended with all that was opened by it. */
  readonly hasEndedAccess: boolean;
};

type Linked = { readonly id: string; readonly hasEndedAccess: boolean };

/**
 * Finds the user, or makes one, and has the membership say what the provider does. An owner stays one: an organization must not lose
 * its last one by a list that is kept elsewhere.
 */
export function enterByProvider(sql: Sql, account: ProviderAccount): Promise<SignedInAccount> {
  const { issuer, subject, organizationId, role, now } = account;
  return withPlainRows(sql, async ({ userIdentity, membership }) => {
    const known = await userIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } });
    const { id: userId, hasEndedAccess } =
      known === null ? await linkUser(sql, account) : { id: known.userId, hasEndedAccess: false };
    const key = { organizationId_userId: { organizationId, userId } };
    const before = await membership.findUnique({ where: key, select: { role: true } });
    if (before === null) await membership.create({ data: { organizationId, userId, role, createdAt: now } });
    else if (before.role !== 'owner' && before.role !== role) {
      await membership.update({ where: key, data: { role, version: { increment: 1 } } });
      await endLeftBehind(sql, { organizationId, userId: asId<UserId>(userId) });
    }
    const roleNow = before?.role === 'owner' ? 'owner' : role;
    return { userId: asId<UserId>(userId), role: roleNow, hasEndedAccess };
  });
}

/**
 * Finds the account of an address that the provider has verified, or makes it, and stores the provider's subject.
 *
 * An account that was made with a password has shown no proof of its address: any organization's admin may have invited it and
 * accepted in its user's place. Its password and everything opened with it end, so that only the user whom the provider knows is
 * left. Not so if that user gains nothing by the provider: the account's holder already had that access.
 */
function linkUser(sql: Sql, account: ProviderAccount): Promise<Linked> {
  const { issuer, subject, newUserId, now, email, name } = account;
  return withPlainRows(sql, async ({ user, userIdentity }) => {
    const { id, serviceOf, managedBy } = await user.upsert({
      where: { email },
      create: { id: newUserId, email, name, createdAt: now },
      update: {},
    });
    if (serviceOf !== null || managedBy !== null) throw addressOfNoMailbox();
    const isLinked = id === newUserId || (await userIdentity.count({ where: { userId: id } })) > 0;
    const isProven = isLinked || (await gainsNothing(sql, id, account));
    const hasEndedAccess = !isProven && (await endAccess(sql, asId<UserId>(id)));
    await userIdentity.create({ data: { issuer, subject, userId: id } });
    return { id, hasEndedAccess };
  });
}

/** Is it a member already whose role the provider does not raise? */
function gainsNothing(sql: Sql, userId: string, { organizationId, role }: ProviderAccount): Promise<boolean> {
  return withPlainRows(sql, async ({ membership }) => {
    const key = { organizationId_userId: { organizationId, userId } };
    const before = await membership.findUnique({ where: key, select: { role: true } });
    // The cast: a CHECK of the table vouches for the role.
    return before !== null && weakerRole(before.role as OrganizationRole, role) === role;
  });
}

/** Ends the account's password, sessions and tokens in all organizations. Returns false when it had none of these. */
async function endAccess(sql: Sql, userId: UserId): Promise<boolean> {
  // The lock: a token that another transaction is making either exists before the deletion, or waits for this commit.
  const { rows } = await sql.query<{ password_hash: string | null }>(
    'SELECT password_hash FROM app_user WHERE id = $1 FOR UPDATE',
    [userId],
  );
  await sql.query('UPDATE app_user SET password_hash = NULL WHERE id = $1', [userId]);
  await sql.query('DELETE FROM device_login WHERE user_id = $1', [userId]);
  const { rowCount } = await sql.query('DELETE FROM token WHERE user_id = $1', [userId]);
  return rowCount > 0 || rows[0]?.password_hash !== null;
}

/** A provider that vouches for an address of no mailbox, as service accounts have, has not verified it. */
function addressOfNoMailbox(): StorageFault {
  return new StorageFault('auth.invalid', { publicMessage: 'the address is of no mailbox' });
}
