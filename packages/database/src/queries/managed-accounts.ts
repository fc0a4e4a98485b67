/**
 * Sign-in by an organization's own OpenID provider. Needs the system scope: the caller has no session yet.
 *
 * The organization's admins choose that provider, so it is trusted in this organization only: an account is found by the issuer and
 * its subject, never by an e-mail address, and has no membership elsewhere.
 */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { asId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';
import { mayStill } from './left-behind.js';

/** More are not made, so that a provider that invents users fills no table. */
const ACCOUNTS_MAX = 10_000;

/** A provider with its fields for the control plane only. */
export type UsableProvider = {
  organizationId: OrganizationId;
  issuer: string;
  clientId: string;
  clientSecret: string;
  /** Key that seals the browser's cookie during the sign-in. */
  cookieKey: string;
  domains: string[];
  defaultRole: OrganizationRole;
  version: number;
};

const COLUMNS = `p.organization_id AS "organizationId", p.issuer, p.client_id AS "clientId", s.client_secret AS "clientSecret",
  s.cookie_key AS "cookieKey", p.domains, p.default_role AS "defaultRole", p.version
  FROM sign_in_provider p JOIN sign_in_provider_secret s ON s.organization_id = p.organization_id`;

/** An organization that is not there and one without a provider are the same to the caller. */
export async function findProviderByName(
  sql: Sql,
  organizationName: string,
): Promise<UsableProvider | undefined> {
  const { rows } = await sql.query<UsableProvider>(
    `SELECT ${COLUMNS} JOIN organization o ON o.id = p.organization_id WHERE o.name = $1`,
    [organizationName],
  );
  return rows[0];
}

export async function findUsableProvider(
  sql: Sql,
  organizationId: OrganizationId,
): Promise<UsableProvider | undefined> {
  const { rows } = await sql.query<UsableProvider>(`SELECT ${COLUMNS} WHERE p.organization_id = $1`, [
    organizationId,
  ]);
  return rows[0];
}

export type ManagedAccount = {
  /** The provider's name for the user, which never changes. */
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  /** Of the user, where there is none yet. */
  readonly newUserId: UserId;
  readonly now: Date;
};

export type SignedInAccount = { readonly userId: UserId; readonly role: OrganizationRole };

/**
 * Finds the user's account in the organization, or makes it with the provider's default role. A role given here since stays.
 *
 * @param provider as it was when the user came back; one that was changed meanwhile vouches for no user any more
 * @throws StorageFault `auth.invalid` for a provider that was changed, `auth.forbidden` for one with too many accounts
 */
export async function enterManaged(
  sql: Sql,
  { organizationId, issuer, defaultRole, version }: UsableProvider,
  account: ManagedAccount,
): Promise<SignedInAccount> {
  // The lock: of two first sign-ins of one user at once, the second one finds the account of the first.
  const { rows } = await sql.query<{ made_by: UserId | null }>(
    'SELECT made_by FROM sign_in_provider WHERE organization_id = $1 AND version = $2 FOR UPDATE',
    [organizationId, version],
  );
  const [stored] = rows;
  if (stored === undefined) throw changedMeanwhile();
  const { subject, email: providerEmail, name, now } = account;
  const key = { organizationId_issuer_subject: { organizationId, issuer, subject } };
  return withPlainRows(sql, async ({ providerIdentity, membership, user }) => {
    const known = await providerIdentity.findUnique({ where: key });
    if (known !== null) {
      const { userId } = known;
      await user.updateMany({ where: { id: userId }, data: { providerEmail, name } });
      const member = await membership.findUniqueOrThrow({
        where: { organizationId_userId: { organizationId, userId } },
      });
      // The column's CHECK knows these roles only.
      return { userId: asId<UserId>(userId), role: member.role as OrganizationRole };
    }
    const maker = { organizationId, userId: stored.made_by ?? undefined };
    if (!(await mayStill(sql, 'sign-in provider', maker))) throw makerLeft();
    if ((await user.count({ where: { managedBy: organizationId } })) >= ACCOUNTS_MAX) throw tooMany();
    const userId = account.newUserId;
    // The domain is reserved for addresses of no mailbox (RFC 2606): what looks accounts up by address finds none of these.
    const email = `${userId}@managed-account.invalid`;
    const made = { id: userId, email, name, managedBy: organizationId, providerEmail, createdAt: now };
    await user.createMany({ data: [made] });
    await membership.create({ data: { organizationId, userId, role: defaultRole, createdAt: now } });
    await providerIdentity.create({ data: { organizationId, issuer, subject, userId } });
    return { userId, role: defaultRole };
  });
}

function changedMeanwhile(): StorageFault {
  return new StorageFault('auth.invalid', {
    publicMessage: "the organization's provider was changed meanwhile",
    cures: ['sign in again'],
  });
}

function makerLeft(): StorageFault {
  return new StorageFault('auth.forbidden', {
    publicMessage:
      "the admin who set the organization's provider may not any more, so that it makes no new accounts",
    cures: ['ask an admin of the organization to set the provider again, as it is'],
  });
}

function tooMany(): StorageFault {
  return new StorageFault('auth.forbidden', {
    publicMessage: `the organization's provider has ${ACCOUNTS_MAX} accounts here, which is as many as it may have`,
    cures: ['ask an admin of the organization to remove members that are not needed'],
  });
}
