/** Decision on a member's role: who may give and take it, and that an organization keeps an owner. */
import { type Decision, refuse, unchanged } from '@holdfast/core/policy/decision.js';
import type { OrganizationRole } from './permissions.js';

export type RoleChange = {
  /** The role of the user who asks. */
  readonly byRole: OrganizationRole;
  /** `undefined`: no member yet. */
  readonly before: OrganizationRole | undefined;
  /** `undefined`: a member no longer. */
  readonly after: OrganizationRole | undefined;
  /** Owners beside this member. */
  readonly otherOwners: number;
  /** It never signs in, so an organization with no other owner could not be reached. */
  readonly isServiceAccount: boolean;
  /** The organization's provider vouches for it. Admins choose that provider, and must not become owners by their choice. */
  readonly isManaged: boolean;
};

export function decideRoleChange(
  change: RoleChange,
): Decision<'auth.forbidden' | 'member.last_owner' | 'member.no_owner'> {
  const { byRole, before, after, otherOwners, isServiceAccount, isManaged } = change;
  if (before === after) return unchanged(`the role is ${before} already`);
  if (byRole !== 'owner' && (before === 'owner' || after === 'owner')) {
    return refuse('auth.forbidden', `only owners make and unmake owners; your role is ${byRole}`, [
      'ask an owner of the organization',
    ]);
  }
  if (isServiceAccount && after === 'owner') {
    return refuse('member.no_owner', 'a service account can not be an owner, as it never signs in', [
      'make it an admin',
    ]);
  }
  if (isManaged && after === 'owner') {
    return refuse('member.no_owner', "an account of the organization's provider can not be an owner", [
      'make it an admin',
      'invite the user, who then has an account with a password',
    ]);
  }
  if (before === 'owner' && otherOwners === 0) {
    return refuse('member.last_owner', 'this is the only owner of the organization, which needs one', [
      'make another member an owner first',
    ]);
  }
  return { kind: 'allow' };
}
