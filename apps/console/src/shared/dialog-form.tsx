'use client';
import { Button } from '@holdfast/ui/button.js';
import type { FormEvent, ReactNode } from 'react';
import { isProblem } from '../api/problem';
import { Refusal } from './refusal';

/** The refusal of one field, in the server's words. */
type ErrorAt = (pointer: string) => string | undefined;

type Props = {
  /** Of the call that the form made; null for none. */
  error: unknown;
  /** Text for an unknown outcome, when no answer came. */
  silence: string;
  busy: boolean;
  submitLabel: string;
  /** Why it can't be sent yet. */
  disabledReason?: string | undefined;
  onSubmit: (form: FormData) => void;
  onCancel: () => void;
  /** Another way out, at the other end of the row of buttons. */
  aside?: ReactNode;
  children: (errorAt: ErrorAt) => ReactNode;
};

/** The form of a dialog. An error of a field is shown beside it, one of the whole below the fields. */
export function DialogForm({
  error,
  silence,
  busy,
  submitLabel,
  disabledReason,
  onSubmit,
  onCancel,
  aside,
  children,
}: Props) {
  const problem = isProblem(error) ? error : undefined;
  const errorAt: ErrorAt = (pointer) => problem?.errors.find((one) => one.pointer === pointer)?.detail;
  const isOfNoField = error !== null && (problem === undefined || problem.errors.length === 0);

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    if (disabledReason === undefined) onSubmit(new FormData(event.currentTarget));
  }

  return (
    <form onSubmit={submit} className="flex flex-col gap-3">
      {children(errorAt)}
      {isOfNoField && <Refusal problem={error} silence={silence} />}
      <div className="mt-1 flex flex-wrap justify-end gap-2">
        {aside !== undefined && <span className="mr-auto">{aside}</span>}
        <Button onClick={onCancel}>Cancel</Button>
        <Button type="submit" variant="primary" busy={busy} disabledReason={disabledReason}>
          {submitLabel}
        </Button>
      </div>
    </form>
  );
}
