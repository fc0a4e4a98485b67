/**
 * Decision on giving a token another secret. Who rotates a token is shown the secret, and may from then on do what its user may, for
 * as long as the token lives: so rotating must give nothing that the caller could not have anyway.
 */
import { ALLOWED, type Decision, refuse } from '@holdfast/core/policy/decision.js';
import { type OrganizationRole, weakerRole } from './permissions.js';

export type Rotation = {
  /** The token that the request was made with; `undefined`: a session, whose user is there and may have any token of its own. */
  readonly byToken: { readonly expiresAt: Date | undefined } | undefined;
  readonly token: { readonly expiresAt: Date | undefined; readonly role: OrganizationRole };
  /** Role of the caller. */
  readonly byRole: OrganizationRole;
  /** Was the caller's token made with this one, directly or not? It ends with it then. */
  readonly isAncestor: boolean;
  readonly isOwn: boolean;
  /** The token's user is a service account, which never signs in: its tokens are in its admins' hands. */
  readonly isOfServiceAccount: boolean;
};

export function decideRotation(rotation: Rotation): Decision<'auth.forbidden'> {
  const { byToken, byRole, token, isAncestor, isOwn, isOfServiceAccount } = rotation;
  if (weakerRole(token.role, byRole) !== token.role) {
    return refuse('auth.forbidden', `a token of role ${token.role} may do more than you, who are ${byRole}`, [
      'revoke it',
    ]);
  }
  if (!isOwn && !isOfServiceAccount) {
    return refuse(
      'auth.forbidden',
      "the token is another member's: its secret would act in that member's name",
      ['revoke it', 'ask its user to rotate it', 'make a service account for what several members use'],
    );
  }
  if (byToken === undefined) return ALLOWED;
  if (isAncestor || outlives(token, byToken)) {
    return refuse(
      'auth.forbidden',
      'the token outlives the one that the request was made with, and its secret would too',
      ['rotate it from a session', 'rotate it with a token that lives as long'],
    );
  }
  return ALLOWED;
}

type Life = { readonly expiresAt: Date | undefined };

/** A token without an end outlives all that have one. */
function outlives({ expiresAt: end }: Life, { expiresAt: other }: Life): boolean {
  if (other === undefined) return false;
  return end === undefined || end > other;
}
