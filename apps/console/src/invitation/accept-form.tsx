'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { api } from '../api/client';
import { type OpenInvitation, organizationApi } from '../api/organization';
import { EntryFrame } from '../shared/entry-frame';
import { NewPasswordField } from '../shared/new-password-field';
import { useEntrySubmit } from '../shared/use-entry-submit';

type Props = {
  secret: string;
  invitation: OpenInvitation;
  onJoined: (organizationId: string) => Promise<void>;
  onBack: () => void;
};

/** Makes the account of the invited address, and signs its user in. */
export function AcceptForm({ secret, invitation, onJoined, onBack }: Props) {
  const { submit, busy, error } = useEntrySubmit(async (form) => {
    const password = String(form.get('password'));
    const joined = await organizationApi.accept({ secret, name: String(form.get('name')), password });
    await api.signIn(joined.email, password);
    await onJoined(joined.organizationId);
  });
  return (
    <EntryFrame
      title={`Join ${invitation.organizationName} as ${invitation.role}`}
      subtitle={`A new account for ${invitation.email}.`}
      error={error}
      onSubmit={submit}
      note="The account may belong to other organizations later."
    >
      <input type="hidden" name="username" autoComplete="username" value={invitation.email} readOnly />
      <TextField label="Name" name="name" autoComplete="name" required autoFocus />
      <NewPasswordField />
      <Button type="submit" variant="primary" busy={busy}>
        Make the account and join
      </Button>
      <Button variant="ghost" onClick={onBack}>
        I have an account
      </Button>
    </EntryFrame>
  );
}
