'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import type { ReactNode } from 'react';
import { useFreshness } from './freshness';
import { ProblemMessage } from './problem-message';
import { StaleNote } from './stale-note';

type Loadable<T> = {
  data: T | undefined;
  error: unknown;
  dataUpdatedAt: number;
  refetch: () => unknown;
};

type Props<T> = { query: Loadable<T>; what: string; rows?: number; children: (data: T) => ReactNode };

/** The states that every panel has: loading, error, stale (old data under a note that says how old), and data. */
export function Loaded<T>({ query, what, rows = 3, children }: Props<T>) {
  const isCut = useFreshness() === 'cut';
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    if (query.error) return <ProblemMessage error={query.error} retry={retry} what={what} />;
    return isCut ? <Unanswered what={what} /> : <Skeleton rows={rows} />;
  }
  return (
    <>
      {query.error || isCut ? <StaleNote since={query.dataUpdatedAt} retry={retry} /> : null}
      {children(query.data)}
    </>
  );
}

function Unanswered({ what }: { what: string }) {
  return (
    <Message
      tone="problem"
      title="The API does not answer"
      body={`Once it does, ${what} are shown here. Nothing has to be done for that on this page.`}
    />
  );
}
