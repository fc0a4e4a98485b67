/**
 * Decisions on accepting an invitation: how its user proves to be the one whom the invited address belongs to.
 *
 * The secret proves nothing of that kind: whoever invites is shown it, and may have invited any address.
 */
import { ALLOWED, type Decision, type Refusal, refuse } from '@holdfast/core/policy/decision.js';

/** What an account that the invited address has already can be proven with. */
export type InvitedAccount = { readonly hasPassword: boolean };

/** What a given password is: that of a new account, or the proof of one that is there. */
export type PasswordUse = { readonly kind: 'sets' } | { readonly kind: 'proves' };

/** @param account of the invited address; `undefined`: there is none, and accepting makes it */
export function decideAcceptance(
  account: InvitedAccount | undefined,
): PasswordUse | Refusal<'invitation.needs_session'> {
  if (account === undefined) return { kind: 'sets' };
  if (account.hasPassword) return { kind: 'proves' };
  // A password that is set here would open the account, with all its organizations, to the inviting user.
  return refuse(
    'invitation.needs_session',
    'the address has an account already, which signs in by a provider and has no password',
    ['sign in to it by its provider, and join with that session (POST /api/v1/invitations/join)'],
  );
}

export type Joining = {
  /** Did the caller sign in, rather than send a token for programs? */
  readonly isSession: boolean;
  /** Has the invited address the account that the caller uses? */
  readonly isInvited: boolean;
};

/** Decides whether an invitation may be accepted with what the caller is signed in by. */
export function decideJoining({ isSession, isInvited }: Joining): Decision<'auth.forbidden'> {
  if (!isSession) {
    return refuse('auth.forbidden', 'a token is of one organization, and joins no other', [
      'sign in, and join with the session',
    ]);
  }
  if (!isInvited) {
    return refuse('auth.forbidden', 'the invitation is for another address than the one of this account', [
      'sign in to the account of that address',
      'ask for an invitation for your own address',
    ]);
  }
  return ALLOWED;
}
