'use client';
import { Skeleton } from '@holdfast/ui/message.js';
import type { ReactNode } from 'react';
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
  const retry = () => void query.refetch();
  if (query.data === undefined) {
    return query.error ? (
      <ProblemMessage error={query.error} retry={retry} what={what} />
    ) : (
      <Skeleton rows={rows} />
    );
  }
  return (
    <>
      {query.error ? <StaleNote since={query.dataUpdatedAt} retry={retry} /> : null}
      {children(query.data)}
    </>
  );
}
