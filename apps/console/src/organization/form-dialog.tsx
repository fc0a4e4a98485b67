'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { toast } from 'sonner';
import { DialogForm } from '../shared/dialog-form';
import { useRefresh } from './use-refresh';

type Props<Result> = {
  title: string;
  description: string;
  submitLabel: string;
  run: (form: FormData) => Promise<Result>;
  /** Said in a toast; left out where the result is shown itself. */
  done?: string;
  onClose: () => void;
  onResult?: (result: Result) => void;
  children: (errorAt: (pointer: string) => string | undefined) => ReactNode;
};

/** A dialog with a form whose refusals stand beside the fields. */
export function FormDialog<Result>(props: Props<Result>) {
  const { title, description, submitLabel, run, done, onClose, onResult, children } = props;
  const refresh = useRefresh();
  const submit = useMutation({
    mutationFn: run,
    onSuccess: (result) => {
      if (done !== undefined) toast.success(done);
      onClose();
      onResult?.(result);
    },
    onSettled: refresh,
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
