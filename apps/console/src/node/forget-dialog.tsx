'use client';
import { useState } from 'react';
import { useAllVolumesOn } from '../api/node-queries';
import type { StorageNode } from '../api/types';
import { Loaded } from '../shared/loaded';
import { PlanDialog } from '../shared/plan-dialog';
import { type PossibleLoss, possibleLosses } from './forget-losses';

const LOSS = {
  all: 'its only copy is on it, and all data is lost',
  newest: 'the copies left may lack its newest writes, so that it goes on with a salvage only',
} satisfies Record<PossibleLoss['kind'], string>;

type Props = { node: StorageNode; path: string; onClose: () => void };

/** Declares a node gone for good. Volumes that lose data by it are named first, and each loss is accepted one by one. */
export function ForgetDialog({ node, path, onClose }: Props) {
  const volumes = useAllVolumesOn(node.id);
  const [accepted, setAccepted] = useState<ReadonlySet<string>>(new Set());
  const toggle = (id: string) => {
    const next = new Set(accepted);
    if (!next.delete(id)) next.add(id);
    setAccepted(next);
  };
  return (
    <PlanDialog
      title={`Forget ${node.name}?`}
      description="Only when the machine is gone for good. Its copies are given up at once and built elsewhere, its agent is never let in again, and this can't be taken back."
      request={
        volumes.data === undefined
          ? undefined
          : { method: 'POST', path: `${path}/forget`, body: { acceptLossOf: [...accepted] } }
      }
      fields={
        <Loaded query={volumes} what="the volumes on it" rows={2}>
          {(data) => <Losses losses={possibleLosses(node.id, data)} accepted={accepted} onToggle={toggle} />}
        </Loaded>
      }
      confirmLabel="Forget node"
      done={`${node.name} is being forgotten.`}
      isDangerous
      typedName={node.name}
      onClose={onClose}
    />
  );
}

type LossesProps = {
  losses: readonly PossibleLoss[];
  accepted: ReadonlySet<string>;
  onToggle: (volumeId: string) => void;
};

function Losses({ losses, accepted, onToggle }: LossesProps) {
  if (losses.length === 0) return null;
  return (
    <fieldset className="max-h-60 overflow-y-auto rounded-md border border-bad px-3 py-2 text-sm">
      <legend className="px-1 font-medium text-bad">What may be lost; mark what you accept</legend>
      {losses.map(({ volumeId, name, kind }) => (
        <label key={volumeId} className="flex min-h-7 items-baseline gap-2">
          <input
            type="checkbox"
            className="accent-accent"
            checked={accepted.has(volumeId)}
            onChange={() => onToggle(volumeId)}
          />
          <span>
            <strong>{name}</strong>: {LOSS[kind]}
          </span>
        </label>
      ))}
    </fieldset>
  );
}
