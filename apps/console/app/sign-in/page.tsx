'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { type FormEvent, useEffect, useState } from 'react';
import { api } from '../../src/api/client';
import { isProblem } from '../../src/api/problem';
import { signInProviderApi } from '../../src/api/sign-in-provider';
import { EntryFrame } from '../../src/shared/entry-frame';
import { returnPath } from '../../src/shared/return-path';

export default function SignInPage() {
  const router = useRouter();
  const queryClient = useQueryClient();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);
  const [byProvider, setByProvider] = useState(false);

  const { data: provider } = useQuery({ queryKey: ['sign-in-provider'], queryFn: api.signInProvider });

  // A sign-in at the provider that was refused comes back here.
  useEffect(() => {
    if (typeof provider?.refused === 'string') setError(provider.refused);
  }, [provider?.refused]);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      if (byProvider) {
        const organization = String(form.get('organization')).trim();
        window.location.assign(
          await signInProviderApi.begin(organization, returnPath(window.location.search)),
        );
        return;
      }
      await api.signIn(String(form.get('email')), String(form.get('password')));
      queryClient.clear();
      router.replace(returnPath(window.location.search));
    } catch (problem) {
      setError(isProblem(problem) ? problem.detail : 'There was no answer. The API may be restarting.');
      setBusy(false);
    }
  }

  return (
    <EntryFrame
      title="Sign in to Holdfast"
      subtitle="Replicated block volumes, kept alive."
      error={error}
      onSubmit={submit}
      note={
        <>
          A local stack prints its address and password when it starts, and keeps them in{' '}
          <code className="font-mono">local.json</code>.
        </>
      }
    >
      {byProvider ? (
        <TextField
          label="Organization"
          name="organization"
          hint="Its name, as its admins spell it."
          required
          autoFocus
        />
      ) : (
        <>
          <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
          />
        </>
      )}
      <Button type="submit" variant="primary" busy={busy}>
        {byProvider ? 'Continue' : 'Sign in'}
      </Button>
      <Button variant="ghost" onClick={() => setByProvider(!byProvider)}>
        {byProvider ? 'Use a password' : "Use an organization's provider"}
      </Button>
      {typeof provider?.name === 'string' && (
        <a
          className="text-center text-sm underline"
          href={signInProviderApi.startAt(returnPath(window.location.search))}
        >
          Sign in with {provider.name}
        </a>
      )}
    </EntryFrame>
  );
}
