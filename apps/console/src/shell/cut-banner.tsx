'use client';
import { Moment } from '@holdfast/ui/moment.js';
import { useQueryClient } from '@tanstack/react-query';
import { CloudOff } from 'lucide-react';
import { useRisk } from '../api/queries';
import { useFreshness } from '../shared/freshness';

/** Above every page while the API does not answer: how old all that is shown is. It stays in sight while one scrolls. */
export function CutBanner() {
  const isCut = useFreshness() === 'cut';
  const { dataUpdatedAt } = useRisk();
  const queryClient = useQueryClient();
  if (!isCut) return null;
  return (
    <div
      role="alert"
      className="sticky top-0 z-20 flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-border-strong bg-warn-soft px-4 py-2 text-sm text-warn lg:px-7"
    >
      <CloudOff aria-hidden size={16} />
      <p>
        The API does not answer.{' '}
        {dataUpdatedAt > 0 && (
          <>
            Not current: this is from <Moment at={new Date(dataUpdatedAt).toISOString()} />.
          </>
        )}
      </p>
      <button
        type="button"
        onClick={() => void queryClient.invalidateQueries()}
        className="min-h-6 font-medium underline underline-offset-2"
      >
        Try again
      </button>
    </div>
  );
}
