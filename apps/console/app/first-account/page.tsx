'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { api } from '../../src/api/client';
import { isProblem } from '../../src/api/problem';
import { paths } from '../../src/paths';
import { EntryFrame } from '../../src/shared/entry-frame';

/** Makes the first account of a fresh installation. The link's secret is after the hash sign of the address. */
export default function FirstAccountPage() {
  const router = useRouter();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const field = (name: string) => String(form.get(name));
    const [email, password] = [field('email'), field('password')];
    setBusy(true);
    setError(undefined);
    try {
      const secret = window.location.hash.slice(1);
      await api.makeFirstAccount({ secret, email, name: field('name'), password });
      await api.signIn(email, password);
      router.replace(paths.overview);
    } catch (problem) {
      setError(isProblem(problem) ? problem.detail : 'There was no answer. The API may be restarting.');
      setBusy(false);
    }
  }

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
      <TextField
        label="Password, at least 12 characters"
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={12}
        required
      />
      <Button type="submit" variant="primary" busy={busy}>
        Make the account
      </Button>
    </EntryFrame>
  );
}
