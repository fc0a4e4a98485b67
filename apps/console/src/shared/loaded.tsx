'use client';
import { Message, Skeleton } from '@holdfast/ui/message.js';
import type { ReactNode } from 'react';
import { useFreshness } from './freshness';
import { panelStateOf } from './panel-state';
import { ProblemMessage } from './problem-message';
import { StaleNote } from './stale-note';

type Loadable<T> = {
  data: T | undefined;
  error: unknown;
  dataUpdatedAt: number;
  refetch: () => unknown;
};

type Props<T> = { query: Loadable<T>; what: string; rows?: number; children: (data: T) => ReactNode };

/**
 * The states that every panel has: loading, error, stale (old data under a note that says how old), and data. While the API does not
 * answer at all, the page's banner says so for all of them.
 */
export function Loaded<T>({ query, what, rows = 3, children }: Props<T>) {
  const state = panelStateOf(query, useFreshness() === 'cut');
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    if (state === 'problem') return <ProblemMessage error={query.error} retry={retry} what={what} />;
    return state === 'unanswered' ? <Unanswered what={what} /> : <Skeleton rows={rows} />;
  }
  return (
    <>
      {state === 'stale' && <StaleNote since={query.dataUpdatedAt} retry={retry} />}
      {children(query.data)}
    </>
  );
}

function Unanswered({ what }: { what: string }) {
  return <Message title="Nothing to show yet" body={`Once the API answers, ${what} are shown here.`} />;
}
