/**
 * What the stream tells of rebuilds, applied to the list that is shown: the rebuilds of the volumes concerned are asked for, and put
 * into it. Only where more volumes report at once than a filter names is the list asked for again.
 */
import type { QueryClient } from '@tanstack/react-query';
import { api } from '../client';
import type { Rebuild } from '../types';
import type { makeRefresher } from './refresher';

/** Volumes that one filter has room for. */
const VOLUMES_MAX = 20;
/** Engines report about once a second: what comes within this time is one request. */
const COLLECT_MS = 1_000;
/** As many as the list reads at first. */
export const REBUILDS_SHOWN_MAX = 200;

/** Rebuilds in the list's order, the newest first, with those that have changed as they are now. */
export function withRebuilds(shown: readonly Rebuild[], changed: readonly Rebuild[]): Rebuild[] {
  const ids = new Set(changed.map(({ id }) => id));
  return [...changed, ...shown.filter(({ id }) => !ids.has(id))]
    .sort((a, b) => Date.parse(b.queuedAt) - Date.parse(a.queuedAt) || (a.id < b.id ? 1 : -1))
    .slice(0, REBUILDS_SHOWN_MAX);
}

/** Applies changes of rebuilds, named by their volumes, one round after the other. */
export function makeRebuildPatcher(
  queryClient: QueryClient,
  clusterId: string,
  refresher: ReturnType<typeof makeRefresher>,
) {
  const queryKey = ['rebuilds', clusterId];
  let touched = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function run(): Promise<void> {
    const ids = touched;
    touched = new Set();
    const query = queryClient.getQueryCache().find({ queryKey });
    const isPatched =
      ids.size <= VOLUMES_MAX && query?.isActive() === true && query.state.fetchStatus !== 'fetching';
    if (!isPatched) return refresher.soon(['rebuilds']);
    try {
      const rows = await api.rebuildsOf(clusterId, [...ids]);
      queryClient.setQueryData<Rebuild[]>(queryKey, (shown) => shown && withRebuilds(shown, rows));
    } catch {
      refresher.soon(['rebuilds']);
    }
  }

  function later(): void {
    timer ??= setTimeout(async () => {
      await run();
      timer = undefined;
      if (touched.size > 0) later();
    }, COLLECT_MS);
  }

  return {
    touch(volumeId: string) {
      touched.add(volumeId);
      later();
    },
    stop() {
      clearTimeout(timer);
    },
  };
}
