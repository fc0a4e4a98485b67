'use client';
import { useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

const PARAM = 'q';

/** Search text of a list. It is in the address, so that it can be shared and survives a reload. */
export function useSearchText(path: string): [text: string, search: (text: string) => void] {
  const text = useSearchParams().get(PARAM) ?? '';
  const search = useCallback(
    (next: string) =>
      // Without the router, which would ask the server for a page that is here already.
      window.history.replaceState(
        null,
        '',
        next === '' ? path : `${path}?${PARAM}=${encodeURIComponent(next)}`,
      ),
    [path],
  );
  return [text, search];
}
