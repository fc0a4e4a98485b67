'use client';
import { usePathname, useRouter, useSearchParams } from 'next/navigation';
import { useCallback, useMemo } from 'react';
import { type ListState, readListState, writeListState } from './list-state';

export type ChangeState = (change: Partial<ListState>) => void;

/** The list's state, read from the address and written to it: a list is shared, and comes back, by its link. */
export function useListState(): [ListState, ChangeState] {
  const router = useRouter();
  const path = usePathname();
  const params = useSearchParams();
  const state = useMemo(() => readListState(new URLSearchParams(params)), [params]);
  const change = useCallback(
    (part: Partial<ListState>) => {
      const query = writeListState({ ...state, ...part });
      router.replace(query === '' ? path : `${path}?${query}`, { scroll: false });
    },
    [router, path, state],
  );
  return [state, change];
}
