'use client';
import { decideJoining } from '@holdfast/access/decide-acceptance.js';
import { Button } from '@holdfast/ui/button.js';
import { reasonOf } from '../actions';
import { type OpenInvitation, organizationApi } from '../api/organization';
import { paths } from '../paths';
import { EntryFrame } from '../shared/entry-frame';
import { keepInvitation } from '../shared/kept-invitation';
import { signInFor } from '../shared/return-path';
import { useEntrySubmit } from '../shared/use-entry-submit';

type Props = {
  secret: string;
  invitation: OpenInvitation;
  /** Of the account that is signed in; `undefined`: none is. */
  email: string | undefined;
  onJoined: (organizationId: string) => Promise<void>;
  onNewAccount: () => void;
};

/** Joins by the session, by the rule that the API has for it. */
export function JoinForm({ secret, invitation, email, onJoined, onNewAccount }: Props) {
  const { submit, busy, error } = useEntrySubmit(async () => {
    const { organizationId } = await organizationApi.join(secret);
    await onJoined(organizationId);
  });
  const { organizationName, role, email: invited } = invitation;
  const disabledReason =
    email === undefined
      ? undefined
      : reasonOf(decideJoining({ isSession: true, isInvited: email === invited }));
  const signIn = (
    <a
      className="text-center text-sm underline"
      href={signInFor(paths.invitation)}
      onClick={() => keepInvitation(secret, window.sessionStorage)}
    >
      {email === undefined ? 'Sign in to join' : 'Sign in as another user'}
    </a>
  );
  return (
    <EntryFrame
      title={`Join ${organizationName} as ${role}`}
      subtitle={`For ${invited}.`}
      error={error}
      onSubmit={submit}
      note={
        email === undefined
          ? 'An account that there is joins by its sign-in, also by that of a provider.'
          : `You are signed in as ${email}.`
      }
    >
      {email !== undefined && (
        <Button type="submit" variant="primary" busy={busy} disabledReason={disabledReason}>
          Join {organizationName}
        </Button>
      )}
      {(email === undefined || disabledReason !== undefined) && signIn}
      {email === undefined && (
        <Button variant="ghost" onClick={onNewAccount}>
          I have no account yet
        </Button>
      )}
    </EntryFrame>
  );
}
