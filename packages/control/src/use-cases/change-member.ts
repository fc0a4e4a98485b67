/** Changes of who belongs to an organization. An organization keeps an owner, also where two step down at the same moment. */
import { decideRoleChange } from '@holdfast/access/decide-membership.js';
import type { OrganizationRole } from '@holdfast/access/permissions.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { UserId } from '@holdfast/core/model/ids.js';
import type { AccessPorts, AccessTransaction } from '../ports/access-store.js';
import { assertVersion, hasToAct } from './use-case.js';

export type MemberWish = {
  readonly userId: UserId;
  /** Role of the member who asks. */
  readonly byRole: OrganizationRole;
  readonly ifVersion?: number | undefined;
};

/** @throws StorageFault `member.not_found`, `member.last_owner`, `member.no_owner`, `auth.forbidden`, `request.stale` */
export function changeMemberRole(
  { access }: Pick<AccessPorts, 'access'>,
  wish: MemberWish & { readonly role: OrganizationRole },
): Promise<void> {
  return access.change(async (transaction) => {
    const isChange = await isAllowedChange(transaction, wish, wish.role);
    if (isChange) await transaction.setMemberRole(wish.userId, wish.role);
  });
}

/** @throws StorageFault `member.not_found`, `member.last_owner`, `auth.forbidden`, `request.stale` */
export function removeMember({ access }: Pick<AccessPorts, 'access'>, wish: MemberWish): Promise<void> {
  return access.change(async (transaction) => {
    await isAllowedChange(transaction, wish, undefined);
    await transaction.removeMember(wish.userId);
  });
}

/** @param after `undefined`: a member no longer */
async function isAllowedChange(
  transaction: AccessTransaction,
  { userId, byRole, ifVersion }: MemberWish,
  after: OrganizationRole | undefined,
): Promise<boolean> {
  // Before the member is read: of two owners who step down at once the second finds itself the last.
  const owners = await transaction.lockOwners();
  const member = await transaction.member(userId);
  if (member === undefined) {
    throw new StorageFault('member.not_found', { publicMessage: `there is no member ${userId}` });
  }
  assertVersion(member.version, ifVersion);
  const otherOwners = owners.filter((owner) => owner !== userId).length;
  const { role: before, isServiceAccount, isManaged } = member;
  return hasToAct(decideRoleChange({ byRole, before, after, otherOwners, isServiceAccount, isManaged }));
}
