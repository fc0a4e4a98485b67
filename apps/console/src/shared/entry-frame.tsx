import type { FormEvent, ReactNode } from 'react';
import { sentence } from '../sentence';
import { Logo } from './logo';

type Props = {
  title: string;
  subtitle: string;
  error: string | undefined;
  onSubmit: (event: FormEvent<HTMLFormElement>) => void;
  /** Below the form. */
  note: ReactNode;
  children: ReactNode;
};

/** Page with one form, for those who are not signed in: the console's frame is not there yet. */
export function EntryFrame({ title, subtitle, error, onSubmit, note, children }: Props) {
  return (
    <main className="grid min-h-screen place-items-center px-4">
      <title>{title}</title>
      <div className="w-full max-w-sm">
        <div className="mb-6 flex items-center gap-3">
          <Logo size={36} />
          <div>
            <h1 className="text-lg font-semibold">{title}</h1>
            <p className="text-sm text-muted">{subtitle}</p>
          </div>
        </div>
        <form
          onSubmit={onSubmit}
          className="flex flex-col gap-3 rounded-lg border border-border bg-raised p-5 shadow-panel"
        >
          {children}
          {error !== undefined && (
            <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
              {sentence(error)}
            </p>
          )}
        </form>
        <p className="mt-3 text-xs text-muted">{note}</p>
      </div>
    </main>
  );
}
