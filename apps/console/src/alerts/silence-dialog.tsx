'use client';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField, TextField } from '@holdfast/ui/field.js';
import { api } from '../api/client';
import { keys } from '../api/queries';
import type { Alert } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { DialogForm } from '../shared/dialog-form';
import { useAction } from '../shared/use-action';
import { matcherOf, SILENCE_HOURS } from './silence';

const HOUR_MS = 3_600_000;

type Props = { alert: Alert; onDone: () => void };

/** Suppresses notices about one cause for a time. It stays displayed. */
export function SilenceDialog({ alert, onDone }: Props) {
  const cluster = useCluster();
  const save = useAction({
    run: (form: FormData) =>
      api.createSilence(cluster.id, {
        matcher: matcherOf(alert),
        comment: String(form.get('comment')),
        endsAt: new Date(Date.now() + Number(form.get('hours')) * HOUR_MS).toISOString(),
      }),
    done: () => 'The alert is silenced.',
    refusal: 'beside',
    stale: [keys.alerts(cluster.id)],
    onDone,
  });
  return (
    <Dialog
      open
      onOpenChange={onDone}
      title="Silence this alert"
      description={`${alert.message}. It is not announced meanwhile; it is still shown here.`}
    >
      <DialogForm
        error={save.error}
        silence="There was no answer. The alert may be silenced."
        busy={save.isPending}
        submitLabel="Silence"
        onSubmit={(form) => save.mutate(form)}
        onCancel={onDone}
      >
        {(errorAt) => (
          <>
            <SelectField label="For" name="hours" defaultValue="4" error={errorAt('/endsAt')}>
              {SILENCE_HOURS.map(({ hours, label }) => (
                <option key={hours} value={hours}>
                  {label}
                </option>
              ))}
            </SelectField>
            <TextField
              label="Why"
              name="comment"
              hint="For other operators of this cluster."
              required
              autoFocus
              error={errorAt('/comment')}
            />
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}
