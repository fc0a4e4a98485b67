/** Invitations into an organization: a single-use secret for one e-mail address, stored as a hash. */

import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { asId, type InvitationId, type OrganizationId, type UserId } from '@holdfast/core/model/ids.js';
import { hashSecret } from '../credentials.js';
import { withPlainRows } from '../plain/plain-rows.js';
import type { Sql } from '../sql/scope.js';
import { mayStill } from './left-behind.js';
import { type ListRequest, listRows } from './list-rows.js';

export type InvitationRow = {
  id: InvitationId;
  organizationId: OrganizationId;
  email: string;
  role: OrganizationRole;
  invitedBy: UserId;
  createdAt: Date;
  expiresAt: Date;
};

const FIELDS = {
  id: { sql: 'i.id', type: 'id' },
  email: { sql: 'i.email', type: 'text' },
  role: { sql: 'i.role', type: 'text' },
  createdAt: { sql: 'i.created_at', type: 'time' },
  expiresAt: { sql: 'i.expires_at', type: 'time' },
} as const;

export function listInvitations(sql: Sql, request: ListRequest) {
  return listRows<InvitationRow>(
    sql,
    {
      columns: `i.id, i.organization_id AS "organizationId", i.email, i.role, i.invited_by AS "invitedBy",
        i.created_at AS "createdAt", i.expires_at AS "expiresAt"`,
      from: 'invitation i',
      key: FIELDS.id,
      fields: FIELDS,
      defaultSort: '-createdAt',
      where: { text: 'true', values: [] },
    },
    request,
  );
}

type StoredInvitation = Omit<InvitationRow, 'id' | 'organizationId' | 'role' | 'invitedBy'> &
  Record<'id' | 'organizationId' | 'role' | 'invitedBy', string>;

function invitationOf(row: StoredInvitation): InvitationRow {
  const { id, organizationId, email, role, invitedBy, createdAt, expiresAt } = row;
  return {
    id: asId(id),
    organizationId: asId(organizationId),
    email,
    // The column's CHECK knows these roles only.
    role: role as OrganizationRole,
    invitedBy: asId(invitedBy),
    createdAt,
    expiresAt,
  };
}

export function findInvitation(sql: Sql, id: InvitationId): Promise<InvitationRow | undefined> {
  return withPlainRows(sql, async ({ invitation }) => {
    const row = await invitation.findUnique({ where: { id } });
    return row === null ? undefined : invitationOf(row);
  });
}

/** Stores an invitation in the place of an earlier one for the same address, whose secret stops working. */
export function createInvitation(sql: Sql, given: InvitationRow & { secret: string }): Promise<void> {
  const { secret, ...row } = given;
  const { organizationId, email } = row;
  return withPlainRows(sql, async ({ invitation }) => {
    await invitation.deleteMany({ where: { organizationId, email } });
    await invitation.create({ data: { ...row, secretHash: hashSecret(secret) } });
  });
}

/** Returns false when there is no such invitation. */
export function deleteInvitation(sql: Sql, id: InvitationId): Promise<boolean> {
  return withPlainRows(sql, async ({ invitation }) => {
    const { count } = await invitation.deleteMany({ where: { id } });
    return count === 1;
  });
}

export type OpenInvitation = {
  invitation: InvitationRow;
  account: { id: UserId; passwordHash: string | null } | undefined;
};

/** An invitation that can still be accepted, and the account that its address has already. Needs the system scope. */
export function findOpenInvitation(sql: Sql, secret: string, now: Date): Promise<OpenInvitation | undefined> {
  return withPlainRows(sql, async ({ invitation, user }) => {
    const row = await invitation.findUnique({
      where: { secretHash: hashSecret(secret), expiresAt: { gt: now } },
    });
    if (row === null || !(await isInviterEntitled(sql, invitationOf(row)))) return undefined;
    const account = await user.findUnique({ where: { email: row.email } });
    // These belong to their own organization, and have no password to accept with.
    if (account !== null && (account.serviceOf !== null || account.managedBy !== null)) return undefined;
    return {
      invitation: invitationOf(row),
      account:
        account === null ? undefined : { id: asId<UserId>(account.id), passwordHash: account.passwordHash },
    };
  });
}

/** May the inviting member invite still, and to this role? */
function isInviterEntitled(sql: Sql, { organizationId, role, invitedBy }: InvitationRow): Promise<boolean> {
  const kind = role === 'owner' ? "owner's invitation" : 'invitation';
  return mayStill(sql, kind, { organizationId, userId: invitedBy });
}

/** Accepting user: one whose account is made by it, or one who has proven to own the account of the address. */
export type Acceptor =
  | { readonly kind: 'new'; readonly id: UserId; readonly name: string; readonly passwordHash: string }
  | { readonly kind: 'known'; readonly id: UserId };

/** `used`: another request has used the invitation up. `account_made`: another one has made the account meanwhile. */
export type AcceptanceOutcome = 'joined' | 'used' | 'account_made';

/**
 * Uses an invitation up, and makes its user a member. Needs the system scope. An existing account stays unchanged. After any other
 * outcome than `joined` the caller rolls back.
 */
export function acceptInvitation(
  sql: Sql,
  { id, organizationId, email, role }: InvitationRow,
  acceptor: Acceptor,
  now: Date,
): Promise<AcceptanceOutcome> {
  return withPlainRows(sql, async ({ invitation, user, membership }) => {
    const { count } = await invitation.deleteMany({ where: { id } });
    if (count === 0) return 'used';
    const userId = acceptor.id;
    if (acceptor.kind === 'new') {
      const { name, passwordHash } = acceptor;
      const data = [{ id: userId, email, name, passwordHash, createdAt: now }];
      // Never an update: of an account that a provider's user has made meanwhile the password given here proves nothing.
      const made = await user.createMany({ data, skipDuplicates: true });
      if (made.count === 0) return 'account_made';
    }
    await membership.createMany({
      data: [{ organizationId, userId, role, createdAt: now }],
      skipDuplicates: true,
    });
    return 'joined';
  });
}
