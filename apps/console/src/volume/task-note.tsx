'use client';
import { formatBytes } from '@holdfast/core/model/bytes.js';
import { Spinner } from '@holdfast/ui/motion.js';
import type { Volume } from '../api/types';

/** A requested change of the whole volume that has not ended. */
export function TaskNote({ volume }: { volume: Volume }) {
  const { task } = volume;
  if (task === null) return null;
  return (
    <div
      role="status"
      className="flex items-start gap-2 border-b border-border bg-busy-soft px-4 py-2 text-sm"
    >
      <Spinner size={15} className="mt-0.5 text-busy" />
      <div>
        <p>{task.state === 'running' ? `${words(task)} now` : `${words(task)} soon`}</p>
        {task.waitingFor !== null && <p className="text-xs text-muted">It waits for {task.waitingFor}.</p>}
        {task.error !== null && <p className="text-xs text-bad">{task.error}</p>}
      </div>
    </div>
  );
}

function words({ kind, size }: NonNullable<Volume['task']>): string {
  switch (kind) {
    case 'purge':
      return 'Deleted snapshots are taken out';
    case 'revert':
      return 'The volume goes back to a snapshot';
    case 'expand':
      return size === null ? 'The volume grows' : `The volume grows to ${formatBytes(size)}`;
  }
}
