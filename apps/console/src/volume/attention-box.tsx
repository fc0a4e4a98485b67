'use client';
import { Moment } from '@holdfast/ui/moment.js';
import { OctagonAlert, TriangleAlert } from 'lucide-react';
import type { Volume } from '../api/types';
import { sentence } from '../sentence';

/** Reason of a volume that may be used although a copy of it has no place. */
const SOME_PLACED = 'ScheduledDegraded';

/** Nothing is broken, but users want to know. Why a rebuild waits stands with the rebuilds. */
const NOTED = new Set(['CopiesDiffer', 'TooManySnapshots', 'OfflineRebuilding', 'RebuildsHeld']);

/** The same of what should be so and is not. */
const NOTED_WHEN_FALSE = new Set(['AutoBalance', 'DataLocality', 'PlacementFits']);

/** Why the worker can't bring the volume further, and what the user may do about it. */
export function AttentionBox({ volume }: { volume: Volume }) {
  const unscheduled = volume.conditions.find(
    ({ type, status, reason }) => type === 'Scheduled' && (status === 'False' || reason === SOME_PLACED),
  );
  const notes = volume.conditions.filter(({ type, status }) =>
    (status === 'False' ? NOTED_WHEN_FALSE : NOTED).has(type),
  );
  if (volume.attention === null && unscheduled === undefined && notes.length === 0) return null;
  return (
    <div className="mb-4 flex flex-col gap-3">
      {volume.attention !== null && (
        <section
          aria-label="Needs attention"
          className="flex gap-3 rounded-lg border border-bad bg-bad-soft p-4"
        >
          <OctagonAlert aria-hidden size={20} className="mt-0.5 shrink-0 text-bad" />
          <div className="min-w-0 text-sm">
            <p className="font-semibold">{volume.attention.message}</p>
            <ul className="mt-1 list-disc pl-5">
              {volume.attention.cures.map((cure) => (
                <li key={cure}>{cure}</li>
              ))}
            </ul>
            <p className="mt-1 text-xs text-muted">
              Since <Moment at={volume.attention.since} />
            </p>
          </div>
        </section>
      )}
      {unscheduled !== undefined && (
        <section
          aria-label="Not fully placed"
          className="flex gap-3 rounded-lg border border-border-strong bg-warn-soft p-4"
        >
          <TriangleAlert aria-hidden size={20} className="mt-0.5 shrink-0 text-warn" />
          <div className="min-w-0 text-sm">
            <p className="font-semibold">A copy can't be placed</p>
            <p className="mt-1">{firstLine(unscheduled.message)}</p>
            <p className="mt-1 text-xs text-muted">Rule by rule, with the numbers: “Why there”, below.</p>
          </div>
        </section>
      )}
      {notes.map(({ type, message }) => (
        <p key={type} role="status" className="rounded-lg border border-border-strong bg-raised p-4 text-sm">
          {sentence(message)}
        </p>
      ))}
    </div>
  );
}

/** The sentence. The rest lists the disks one by one, which the explanation shows in tables. */
function firstLine(message: string): string {
  const [line = ''] = message.split('\n', 1);
  return line;
}
