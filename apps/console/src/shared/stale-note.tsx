'use client';
import { Moment } from '@holdfast/ui/moment.js';
import { CloudOff } from 'lucide-react';

/** Above data that could not be refreshed: it is still worth seeing, and its age has to be known. */
export function StaleNote({ since, retry }: { since: number; retry: () => void }) {
  return (
    <p role="status" className="flex items-center gap-2 bg-warn-soft px-4 py-1.5 text-xs text-warn">
      <CloudOff aria-hidden size={14} />
      <span>
        Not current: this is from <Moment at={new Date(since).toISOString()} />.
      </span>
      <button type="button" onClick={retry} className="min-h-6 font-medium underline underline-offset-2">
        Try again
      </button>
    </p>
  );
}
