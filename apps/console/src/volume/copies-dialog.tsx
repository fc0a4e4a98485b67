'use client';
import { REPLICA_COUNT_MAX, REPLICA_COUNT_MIN } from '@holdfast/core/model/volume.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { TextField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { api } from '../api/client';
import { keys, usePatchPlan } from '../api/queries';
import type { PatchPlan, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { sentence } from '../sentence';
import { DialogForm } from '../shared/dialog-form';
import { Loaded } from '../shared/loaded';
import { useAction } from '../shared/use-action';

/** How many copies a volume keeps. Which ones would go is shown before it is changed. */
export function CopiesDialog({ volume, onClose }: { volume: Volume; onClose: () => void }) {
  const cluster = useCluster();
  const [typed, setTyped] = useState(String(volume.numberOfReplicas));
  const count = Number(typed);
  const isCount = Number.isInteger(count) && count >= REPLICA_COUNT_MIN && count <= REPLICA_COUNT_MAX;
  const plan = usePatchPlan(volume.id, isCount ? count : volume.numberOfReplicas);
  const save = useAction({
    run: () => api.patchVolume(cluster.id, volume.id, { numberOfReplicas: count }),
    done: () => `${volume.name} is to have ${count === 1 ? '1 copy' : `${count} copies`}.`,
    refusal: 'beside',
    stale: [keys.volume(cluster.id, volume.id)],
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Copies of ${volume.name}`}
      description="Each copy is on a disk of its own. A volume with one copy is lost with its disk."
    >
      <DialogForm
        error={save.error}
        silence="There was no answer. It may have been set."
        busy={save.isPending}
        submitLabel="Save"
        onSubmit={() => save.mutate()}
        onCancel={onClose}
      >
        {(errorAt) => (
          <>
            <TextField
              label="Copies"
              name="numberOfReplicas"
              type="number"
              min={REPLICA_COUNT_MIN}
              max={REPLICA_COUNT_MAX}
              required
              autoFocus
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              error={errorAt('/numberOfReplicas')}
            />
            <Loaded query={plan} what="the plan" rows={2}>
              {(data) => <Plan plan={data} />}
            </Loaded>
          </>
        )}
      </DialogForm>
    </Dialog>
  );
}

function Plan({ plan }: { plan: PatchPlan }) {
  return (
    <div role="status" className="text-sm">
      <p>{sentence(plan.sentence)}</p>
      <ul className="mt-1 list-disc pl-5 text-muted">
        {plan.removes.map(({ replicaId, nodeName, diskName, why }) => (
          <li key={replicaId}>
            Goes: {nodeName ?? 'without a place'}
            {diskName === null ? '' : `, ${diskName}`} ({why})
          </li>
        ))}
      </ul>
    </div>
  );
}
