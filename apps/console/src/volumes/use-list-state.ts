'use client';
import { usePathname, useSearchParams } from 'next/navigation';
import { useCallback, useMemo } from 'react';
import { type ListState, readListState, writeListState } from './list-state';

export type ChangeState = (change: Partial<ListState>) => void;

/** The list's state, read from the address and written to it: a list is shared, and comes back, by its link. */
export function useListState(): [ListState, ChangeState] {
  const path = usePathname();
  const params = useSearchParams();
  const state = useMemo(() => readListState(new URLSearchParams(params)), [params]);
  const change = useCallback(
    (part: Partial<ListState>) => {
      // Of the address as it is now: a change of a moment ago may not have returned from it yet.
      const now = readListState(new URLSearchParams(window.location.search));
      const query = writeListState({ ...now, ...part });
      // Without the router, which would ask the server for a page that is here already.
      window.history.replaceState(null, '', query === '' ? path : `${path}?${query}`);
    },
    [path],
  );
  return [state, change];
}
