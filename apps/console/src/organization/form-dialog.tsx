'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import type { ReactNode } from 'react';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';
import { ORGANIZATION_KEYS } from './use-refresh';

type Props<Result> = {
  title: string;
  description: string;
  submitLabel: string;
  run: (form: FormData) => Promise<Result>;
  /** Noted once it is taken; `shown` where the result is shown itself, such as a secret. */
  done: string;
  onClose: () => void;
  onResult?: (result: Result) => void;
  children: (errorAt: (pointer: string) => string | undefined) => ReactNode;
};

/** A dialog with a form whose refusals stand beside the fields. */
export function FormDialog<Result>(props: Props<Result>) {
  const { title, description, submitLabel, run, done, onClose, onResult, children } = props;
  const submit = useAction({
    run,
    done: done === 'shown' ? done : () => done,
    refusal: 'beside',
    stale: ORGANIZATION_KEYS,
    onDone: (result) => {
      onClose();
      onResult?.(result);
    },
  });
  return (
    <Dialog open onOpenChange={onClose} title={title} description={description}>
      <DialogForm
        error={submit.error}
        silence="There was no answer. It may have been done."
        busy={submit.isPending}
        submitLabel={submitLabel}
        onSubmit={submit.mutate}
        onCancel={onClose}
      >
        {children}
      </DialogForm>
    </Dialog>
  );
}
