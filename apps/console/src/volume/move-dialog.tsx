'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Button } from '@holdfast/ui/button.js';
import { Dialog } from '@holdfast/ui/dialog.js';
import { SelectField } from '@holdfast/ui/field.js';
import { useState } from 'react';
import { api } from '../api/client';
import { keys, useMovePlan } from '../api/queries';
import type { MovePlan, Replica, Volume } from '../api/types';
import { useCluster } from '../api/use-cluster';
import { sentence } from '../sentence';
import { Loaded } from '../shared/loaded';
import { Refusal } from '../shared/refusal';
import { useAction } from '../shared/use-action';

const ANY_DISK = '';

type Props = { volume: Volume; replica: Replica; onClose: () => void };

/** Where a copy could go, disk by disk, and what the move costs; then the move itself. */
export function MoveDialog({ volume, replica, onClose }: Props) {
  const cluster = useCluster();
  const [diskId, setDiskId] = useState(ANY_DISK);
  const target = diskId === ANY_DISK ? {} : { diskId };
  // The disks to choose from are those of the plan without a choice.
  const open = useMovePlan(volume.id, replica.id, {});
  const plan = useMovePlan(volume.id, replica.id, target);
  const move = useAction({
    run: () => api.moveReplica(cluster.id, volume.id, replica.id, target),
    done: () => `A copy of ${volume.name} is being moved.`,
    refusal: 'beside',
    stale: [keys.volume(cluster.id, volume.id)],
    onDone: onClose,
  });
  return (
    <Dialog
      open
      onOpenChange={onClose}
      title={`Move a copy of ${volume.name}`}
      description="Another copy is built first. This one stays until that is full, so the volume never has fewer than it wants."
    >
      <div className="flex flex-col gap-3">
        <SelectField label="To" value={diskId} onChange={(event) => setDiskId(event.target.value)}>
          <option value={ANY_DISK}>Wherever it fits best</option>
          {open.data?.candidates.map((candidate) => (
            <option
              key={candidate.diskId}
              value={candidate.diskId}
              disabled={!candidate.isPossible}
              title={candidate.message ?? undefined}
            >
              {candidate.nodeName}, {candidate.diskName}
              {candidate.message === null ? '' : `: ${candidate.message}`}
            </option>
          ))}
        </SelectField>
        <Loaded query={plan} what="the plan" rows={2}>
          {(data) => <Plan plan={data} />}
        </Loaded>
        {move.error !== null && <Refusal problem={move.error} />}
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button
            variant="primary"
            busy={move.isPending}
            disabledReason={blockOf(plan.data)}
            onClick={() => move.mutate()}
          >
            Move
          </Button>
        </div>
      </div>
    </Dialog>
  );
}

function blockOf(plan: MovePlan | undefined): string | undefined {
  if (plan === undefined) return 'The plan is being made';
  return plan.isPossible ? undefined : sentence(plan.sentence);
}

function Plan({ plan }: { plan: MovePlan }) {
  return (
    <div role="status" className="text-sm">
      <p>{sentence(plan.sentence)}</p>
      {plan.isPossible && <p className="mt-1 text-muted">{formatBytes(plan.bytes)} have to be copied.</p>}
      {plan.refusal !== null && plan.refusal.cures.length > 0 && (
        <ul className="mt-1 list-disc pl-5 text-muted">
          {plan.refusal.cures.map((cure) => (
            <li key={cure}>{cure}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
