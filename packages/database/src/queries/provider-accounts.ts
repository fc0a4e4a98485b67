/** Accounts of users whom an OpenID provider vouches for. Needs the system scope: the caller has no session yet. */
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import type { OrganizationRole } from '@holdfast/core/policy/permissions.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';

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

export type SignedInAccount = { readonly userId: UserId; readonly role: OrganizationRole };

/**
 * Finds the user, or makes one, and has the membership say what the provider does. An owner stays one: an organization must not lose
 * its last one by a list that is kept elsewhere.
 */
export function enterByProvider(sql: Sql, account: ProviderAccount): Promise<SignedInAccount> {
  const { issuer, subject, organizationId, role, now } = account;
  return withPlainRows(sql, async ({ userIdentity, membership }) => {
    const known = await userIdentity.findUnique({ where: { issuer_subject: { issuer, subject } } });
    const userId = known === null ? await linkUser(sql, account) : known.userId;
    const key = { organizationId_userId: { organizationId, userId } };
    const before = await membership.findUnique({ where: key, select: { role: true } });
    if (before === null) await membership.create({ data: { organizationId, userId, role, createdAt: now } });
    else if (before.role !== 'owner' && before.role !== role) {
      await membership.update({ where: key, data: { role, version: { increment: 1 } } });
    }
    return { userId: asId<UserId>(userId), role: before?.role === 'owner' ? 'owner' : role };
  });
}

/** The provider has verified the address, so an account that has it already is the same user's. */
function linkUser(
  sql: Sql,
  { issuer, subject, newUserId, now, ...person }: ProviderAccount,
): Promise<string> {
  const { email, name } = person;
  return withPlainRows(sql, async ({ user, userIdentity }) => {
    const { id, serviceOf, managedBy } = await user.upsert({
      where: { email },
      create: { id: newUserId, email, name, createdAt: now },
      update: {},
    });
    if (serviceOf !== null || managedBy !== null) throw addressOfNoMailbox();
    await userIdentity.create({ data: { issuer, subject, userId: id } });
    return id;
  });
}

/** A provider that vouches for an address of no mailbox, as service accounts have, has not verified it. */
function addressOfNoMailbox(): StorageFault {
  return new StorageFault('auth.invalid', { publicMessage: 'the address is of no mailbox' });
}
