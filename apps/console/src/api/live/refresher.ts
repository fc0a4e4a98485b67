/** Refetching of whole lists, batched and paced: however many events come, each list is read once per pause. */
import type { QueryClient } from '@tanstack/react-query';

/** The first keys of lists that events touch. */
export type ListKey =
  | 'risk'
  | 'counts'
  | 'volumes'
  | 'nodes'
  | 'disks'
  | 'rebuilds'
  | 'orphans'
  | 'events'
  | 'alerts'
  | 'settings';

/** Changes within this time are read together: short, so that a loss shows soon. */
const TICK_MS = 100;
/** The larger an answer is, the longer the pause: a cluster of a thousand nodes has disks of a megabyte. */
const PAUSE_MS: Record<ListKey, number> = {
  risk: 1_000,
  counts: 5_000,
  volumes: 2_000,
  nodes: 1_000,
  disks: 5_000,
  rebuilds: 1_000,
  orphans: 1_000,
  events: 2_000,
  alerts: 1_000,
  settings: 250,
};

/** A running read ends first, and is then repeated: otherwise it would never arrive. */
export function makeRefresher(queryClient: QueryClient) {
  const dirty = new Set<ListKey>();
  const askedAt = new Map<ListKey, number>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const run = () => {
    timer = undefined;
    const now = performance.now();
    for (const key of dirty) {
      const isTooSoon = now - (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) < PAUSE_MS[key];
      if (isTooSoon || queryClient.isFetching({ queryKey: [key] }) > 0) continue;
      dirty.delete(key);
      askedAt.set(key, now);
      void queryClient.invalidateQueries({ queryKey: [key] });
    }
    if (dirty.size > 0) timer = setTimeout(run, TICK_MS);
  };
  return {
    soon(keys: Iterable<ListKey>) {
      for (const key of keys) dirty.add(key);
      if (dirty.size > 0) timer ??= setTimeout(run, TICK_MS);
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
