/**
 * The secret of an invitation whose user is on the way through a sign-in, kept for this tab: a provider leads back to the console's
 * first page, and to no address that names a secret.
 */
import { paths } from '../paths';

const KEY = 'holdfast-invitation';

export function keepInvitation(secret: string, kept: Storage): void {
  kept.setItem(KEY, secret);
}

/** Once: a user who leaves an invitation is not led back to it. Empty: none was kept. */
export function takeInvitation(kept: Storage): string {
  const secret = kept.getItem(KEY) ?? '';
  kept.removeItem(KEY);
  return secret;
}

/** Link to an invitation. The part after the hash sign is not sent. */
export function invitationLink(secret: string): string {
  return `${paths.invitation}#${secret}`;
}
