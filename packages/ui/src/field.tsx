'use client';
import { type InputHTMLAttributes, type ReactNode, type SelectHTMLAttributes, useId } from 'react';

type Shared = { label: string; hint?: string | undefined; error?: string | undefined };

const CONTROL =
  'h-8 w-full rounded-md border border-border-strong bg-surface px-2 text-sm text-text placeholder:text-faint aria-invalid:border-bad';

function Field({
  label,
  hint,
  error,
  children,
}: Shared & { children: (ids: { id: string; describedBy: string }) => ReactNode }) {
  const id = useId();
  const describedBy = `${id}-help`;
  return (
    <div className="flex flex-col gap-1">
      <label htmlFor={id} className="text-xs font-medium text-muted">
        {label}
      </label>
      {children({ id, describedBy })}
      <p id={describedBy} className={error === undefined ? 'text-xs text-faint' : 'text-xs text-bad'}>
        {error ?? hint}
      </p>
    </div>
  );
}

export function TextField({ label, hint, error, ...rest }: Shared & InputHTMLAttributes<HTMLInputElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <input
          {...rest}
          id={id}
          aria-describedby={describedBy}
          aria-invalid={error !== undefined || undefined}
          className={CONTROL}
        />
      )}
    </Field>
  );
}

export function SelectField({
  label,
  hint,
  error,
  children,
  ...rest
}: Shared & SelectHTMLAttributes<HTMLSelectElement>) {
  return (
    <Field label={label} hint={hint} error={error}>
      {({ id, describedBy }) => (
        <select {...rest} id={id} aria-describedby={describedBy} className={CONTROL}>
          {children}
        </select>
      )}
    </Field>
  );
}
