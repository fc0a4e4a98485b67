'use client';
import { Button } from '@holdfast/ui/button.js';
import { TextField } from '@holdfast/ui/field.js';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from 'next/navigation';
import { type FormEvent, useState } from 'react';
import { api } from '../../src/api/client';
import { isProblem } from '../../src/api/problem';
import { paths } from '../../src/paths';
import { Logo } from '../../src/shared/logo';

export default function SignInPage() {
  const router = useRouter();
  const queryClient = useQueryClient();
  const [error, setError] = useState<string>();
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setError(undefined);
    try {
      await api.signIn(String(form.get('email')), String(form.get('password')));
      queryClient.clear();
      router.replace(paths.overview);
    } catch (problem) {
      setError(isProblem(problem) ? problem.detail : 'There was no answer. The API may be restarting.');
      setBusy(false);
    }
  }

  return (
    <main className="grid min-h-screen place-items-center px-4">
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <Logo size={36} />
          <div>
            <h1 className="text-lg font-semibold">Sign in to Holdfast</h1>
            <p className="text-sm text-muted">Replicated block volumes, kept alive.</p>
          </div>
        </div>
        <form
          onSubmit={submit}
          className="flex flex-col gap-3 rounded-lg border border-border bg-raised p-5 shadow-panel"
        >
          <TextField label="Email" name="email" type="email" autoComplete="username" required autoFocus />
          <TextField
            label="Password"
            name="password"
            type="password"
            autoComplete="current-password"
            required
          />
          {error !== undefined && (
            <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
              {error}
            </p>
          )}
          <Button type="submit" variant="primary" busy={busy}>
            Sign in
          </Button>
        </form>
        <p className="mt-3 text-xs text-muted">
          A local stack prints its address and password when it starts, and keeps them in{' '}
          <code className="font-mono">local.json</code>.
        </p>
      </div>
    </main>
  );
}
