import { useSyncExternalStore } from 'react';

/** As Tailwind's `max-md`. */
const NARROW = '(max-width: 767.98px)';

/** True on a screen on which rows are cards. */
export function useIsNarrow(): boolean {
  return useSyncExternalStore(
    subscribe,
    () => window.matchMedia(NARROW).matches,
    () => false,
  );
}

function subscribe(changed: () => void): () => void {
  const query = window.matchMedia(NARROW);
  query.addEventListener('change', changed);
  return () => query.removeEventListener('change', changed);
}
