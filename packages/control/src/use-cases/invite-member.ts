/** Invitations into an organization. */
import { decideRoleChange } from '@holdfast/access/decide-membership.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { InvitationId, OrganizationId, UserId } from '@holdfast/core/model/ids.js';
import type { AccessPorts, Invitation } from '../ports/access-store.js';
import { requireStill } from './require-still.js';
import { hasToAct } from './use-case.js';

const HOUR_MS = 3_600_000;

export type InvitationWish = {
  readonly id: InvitationId;
  /** Shown once; its holder joins by it. */
  readonly secret: string;
  readonly email: string;
  readonly role: OrganizationRole;
  readonly validHours: number;
  readonly by: {
    readonly organizationId: OrganizationId;
    readonly userId: UserId;
    readonly role: OrganizationRole;
  };
};

/** @throws StorageFault `member.exists`, `auth.forbidden` */
export async function inviteMember(
  { access, clock }: AccessPorts,
  { secret, validHours, by, ...wanted }: InvitationWish,
): Promise<Invitation> {
  const newcomer = { before: undefined, otherOwners: 1, isServiceAccount: false, isManaged: false };
  hasToAct(decideRoleChange({ ...newcomer, byRole: by.role, after: wanted.role }));
  const createdAt = clock.now();
  const invitation: Invitation = {
    ...wanted,
    organizationId: by.organizationId,
    invitedBy: by.userId,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + validHours * HOUR_MS),
  };
  await access.change(async (transaction) => {
    if (await transaction.hasMember(wanted.email)) {
      throw new StorageFault('member.exists', {
        publicMessage: `${wanted.email} belongs to the organization`,
      });
    }
    const kind = wanted.role === 'owner' ? "owner's invitation" : 'invitation';
    await requireStill(transaction, kind, by.userId);
    await transaction.putInvitation(invitation, secret);
  });
  return invitation;
}

/** @throws StorageFault `invitation.not_found` */
export function withdrawInvitation({ access }: Pick<AccessPorts, 'access'>, id: InvitationId): Promise<void> {
  return access.change(async (transaction) => {
    if (await transaction.deleteInvitation(id)) return;
    throw new StorageFault('invitation.not_found', { publicMessage: `there is no invitation ${id}` });
  });
}
