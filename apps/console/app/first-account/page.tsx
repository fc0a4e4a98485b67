'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { useRouter } from 'next/navigation';
import { api } from '../../src/api/client';
import { paths } from '../../src/paths';
import { EntryFrame } from '../../src/shared/entry-frame';
import { NewPasswordField } from '../../src/shared/new-password-field';
import { useEntrySubmit } from '../../src/shared/use-entry-submit';

/** Makes the first account of a fresh installation. The link's secret is after the hash sign of the address. */
export default function FirstAccountPage() {
  const router = useRouter();
  const { submit, busy, error } = useEntrySubmit(async (form) => {
    const field = (name: string) => String(form.get(name));
    const [email, password] = [field('email'), field('password')];
    const secret = window.location.hash.slice(1);
    await api.makeFirstAccount({ secret, email, name: field('name'), password });
    await api.signIn(email, password);
    router.replace(paths.overview);
  });

  return (
    <EntryFrame
      title="Make the first account"
      subtitle="It owns the organization, and invites all others."
      error={error}
      onSubmit={submit}
      note="The link works once, and for an hour. Preparing the database again prints another one."
    >
      <TextField label="Name" name="name" autoComplete="name" required autoFocus />
      <TextField label="Email" name="email" type="email" autoComplete="username" required />
      <NewPasswordField />
      <Button type="submit" variant="primary" busy={busy}>
        Make the account
      </Button>
    </EntryFrame>
  );
}
