import { formatBytes } from '@holdfast/core/model/bytes.js';
import type { DryRun } from '../api/dry-run';
import { sentence } from '../sentence';
import { changedFields, copiesWords } from './dry-run-words';

/** Rows of each kind that a dialog lists; the numbers above them are of all. */
const SHOWN_MAX = 6;

/** A dry run in words: fields that change, what becomes of copies, how much is copied or removed. */
export function DryRunSummary({ plan }: { plan: DryRun }) {
  const fields = changedFields(plan);
  return (
    <section aria-label="Plan" className="flex flex-col gap-2 text-sm">
      {!plan.changes && <p>Things are so already: nothing would change.</p>}
      {fields.length > 0 && (
        <ul className="flex flex-col gap-0.5">
          {fields.slice(0, SHOWN_MAX).map(({ name, before, after }) => (
            <li key={name}>
              <span className="text-muted">{name}:</span> {before} → <strong>{after}</strong>
            </li>
          ))}
        </ul>
      )}
      {plan.copyCount > 0 && (
        <>
          <p className="font-medium">{copiesWords(plan)}</p>
          <ul className="list-disc pl-5 text-muted">
            {plan.copies.slice(0, SHOWN_MAX).map(({ effect, volumeName, replicaId, bytes }) => (
              <li key={`${volumeName} ${replicaId ?? 'new'} ${effect}`}>
                {volumeName}: {effect}, {formatBytes(bytes)}
              </li>
            ))}
          </ul>
          {plan.copyCount > SHOWN_MAX && (
            <p className="text-muted">and {plan.copyCount - SHOWN_MAX} more copies</p>
          )}
        </>
      )}
      {plan.changes && plan.copyCount === 0 && <p>No copy is moved or removed.</p>}
      {plan.notes.map((note) => (
        <p key={note}>{sentence(note)}</p>
      ))}
    </section>
  );
}
