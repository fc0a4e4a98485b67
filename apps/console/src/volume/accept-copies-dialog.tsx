'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { useState } from 'react';
import type { Volume } from '../api/types';
import { NodeName } from '../shared/node-name';
import { PlanDialog } from '../shared/plan-dialog';
import { type CopyChoice, copyChoices } from './copy-choices';

/** A checksum's beginning is enough to see two differ. */
const CHECKSUM_SHOWN = 16;

type Props = { volume: Volume; path: string; onClose: () => void };

/** Which of the copies that differ are right: the others, with what only they hold, are given up. The plan says which those are. */
export function AcceptCopiesDialog({ volume, path, onClose }: Props) {
  const choices = copyChoices(volume);
  const [chosen, choose] = useState<CopyChoice>();
  return (
    <PlanDialog
      title={`Which copies of ${volume.name} are right?`}
      description="They differ, and no majority agrees. The volume goes on with the ones that you choose. The others, with data that only they hold, are given up for good and built anew by the next attach."
      request={
        chosen === undefined
          ? undefined
          : { method: 'POST', path: `${path}/accept-copies`, body: { replicaIds: chosen.replicaIds } }
      }
      fields={
        <fieldset className="flex flex-col gap-1 text-sm">
          <legend className="sr-only">Copies</legend>
          {choices.map((choice) => (
            <label key={choice.replicaIds[0]} className="flex min-h-8 items-baseline gap-2">
              <input
                type="radio"
                name="copies"
                className="accent-accent"
                onChange={() => choose(choice)}
                checked={choice.replicaIds[0] === chosen?.replicaIds[0]}
              />
              <span>
                {choice.nodeIds.map((id, at) => (
                  <span key={choice.replicaIds[at]} className="font-medium">
                    {at > 0 && ', '}
                    <NodeName id={id} />
                  </span>
                ))}
                <span className="block text-xs text-muted">{factsOf(choice)}</span>
              </span>
            </label>
          ))}
        </fieldset>
      }
      confirmLabel="Go on with these"
      done={`${volume.name} goes on with the chosen copies.`}
      isDangerous
      typedName={volume.name}
      onClose={onClose}
    />
  );
}

function factsOf({ checksum, writtenBytes }: CopyChoice): string {
  if (checksum === null) return 'a snapshot of it differs';
  const sum = `checksum ${checksum.slice(0, CHECKSUM_SHOWN)}`;
  return writtenBytes === null ? sum : `${sum}, ${formatBytes(writtenBytes)} written`;
}
