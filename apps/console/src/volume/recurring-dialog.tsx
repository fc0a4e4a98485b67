'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { api } from '../api/client';
import { keys } from '../api/queries';
import type { RecurringSnapshot, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';

type Props = { volume: Volume; known: RecurringSnapshot | undefined; onDone: () => void };

/** Makes a schedule, or changes one. An error is shown beside its field, in the server's words. */
export function RecurringDialog({ volume, known, onDone }: Props) {
  const cluster = useCluster();
  const nameOf = (form: FormData) => known?.name ?? String(form.get('name')).trim();
  const save = useAction({
    run: (form: FormData) =>
      api.setRecurring(cluster.id, volume.id, nameOf(form), {
        cron: String(form.get('cron')).trim(),
        retain: Number(form.get('retain')),
      }),
    done: (_, form) => `Schedule ${nameOf(form)} of ${volume.name} is saved.`,
    refusal: 'beside',
    stale: [keys.volume(cluster.id, volume.id)],
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title={known === undefined ? `Schedule snapshots of ${volume.name}` : `Change ${known.name}`}
      description="A time at which the volume is detached is skipped. After a downtime one snapshot is made up for."
    >
      <DialogForm
        error={save.error}
        silence="There was no answer. It may have been saved."
        busy={save.isPending}
        submitLabel="Save schedule"
        onSubmit={save.mutate}
        onCancel={onDone}
      >
        {(errorAt) => (
          <>
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
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}
