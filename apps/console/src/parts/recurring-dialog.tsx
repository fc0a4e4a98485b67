'use client';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { FormEvent } from 'react';
import { api } from '../api/client';
import { isProblem } from '../api/problem';
import { keys } from '../api/queries';
import type { RecurringSnapshot, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';

type Props = { volume: Volume; known: RecurringSnapshot | undefined; onDone: () => void };

/** Makes a schedule, or changes one. What is wrong is said beside its field, in the server's words. */
export function RecurringDialog({ volume, known, onDone }: Props) {
  const cluster = useCluster();
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: (form: FormData) =>
      api.setRecurring(cluster.id, volume.id, known?.name ?? String(form.get('name')).trim(), {
        cron: String(form.get('cron')).trim(),
        retain: Number(form.get('retain')),
      }),
    onSuccess: () => {
      void queryClient.invalidateQueries({ queryKey: keys.volume(cluster.id, volume.id) });
      onDone();
    },
  });
  const problem = isProblem(save.error) ? save.error : undefined;
  const errorAt = (pointer: string) => problem?.errors.find((error) => error.pointer === pointer)?.detail;

  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    save.mutate(new FormData(event.currentTarget));
  }

  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={known === undefined ? `Schedule snapshots of ${volume.name}` : `Change ${known.name}`}
      description="A time at which the volume is detached is skipped. After a downtime one snapshot is made up for."
    >
      <form onSubmit={submit} className="flex flex-col gap-3">
        {known === undefined && (
          <TextField
            label="Name"
            name="name"
            required
            autoFocus
            autoComplete="off"
            placeholder="nightly"
            hint="Its snapshots are named after it."
            error={errorAt('/name')}
          />
        )}
        <TextField
          label="When, in UTC"
          name="cron"
          required
          autoComplete="off"
          defaultValue={known?.cron ?? '0 3 * * *'}
          hint="Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly."
          error={errorAt('/cron')}
        />
        <TextField
          label="Snapshots to keep"
          name="retain"
          type="number"
          min={1}
          required
          defaultValue={known?.retain ?? 7}
          error={errorAt('/retain')}
        />
        {save.error !== null && (problem === undefined || problem.errors.length === 0) && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
            {problem?.detail ?? 'There was no answer. It may have been saved.'}
          </p>
        )}
        <div className="flex justify-end gap-2">
          <Button onClick={onDone}>Cancel</Button>
          <Button type="submit" variant="primary" busy={save.isPending}>
            Save schedule
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
