'use client';
import { useRouter, useSearchParams } from 'next/navigation';
import { useCallback } from 'react';

const PARAM = 'q';

/** What a list is searched for. It stands in the address, so that it can be shared and survives a reload. */
export function useSearchText(path: string): [text: string, search: (text: string) => void] {
  const router = useRouter();
  const text = useSearchParams().get(PARAM) ?? '';
  const search = useCallback(
    (next: string) =>
      router.replace(next === '' ? path : `${path}?${PARAM}=${encodeURIComponent(next)}`, { scroll: false }),
    [router, path],
  );
  return [text, search];
}
