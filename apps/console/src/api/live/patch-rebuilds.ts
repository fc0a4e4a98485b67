/**
 * Applies the stream's messages about rebuilds to the lists of active ones: the rebuilds of the changed volumes are read, and those
 * that only progressed are updated in place. If one was added, ended or moved, or more volumes report at once than a filter can name,
 * the lists are read again.
 */
import type { InfiniteData, QueryClient } from '@tanstack/react-query';
import { api } from '../client';
import type { Rebuild } from '../types';
import type { makeRefresher } from './refresher';

/** Volumes for which one filter has room. */
const VOLUMES_MAX = 20;
/** Engines report about once a second: what comes within this time is one request. */
const COLLECT_MS = 1_000;

type RebuildPage = { readonly items: readonly Rebuild[]; readonly nextCursor: string | null };
/** The rebuilds of these volumes that run or wait, as they are now. */
export type ActiveNow = { readonly volumeIds: ReadonlySet<string>; readonly rows: readonly Rebuild[] };

/** @returns `undefined` where one has come, ended or changed its place */
export function patchRebuilds<Page extends RebuildPage>(
  pages: readonly Page[],
  { volumeIds, rows }: ActiveNow,
): Page[] | undefined {
  const now = new Map(rows.map((row) => [row.id, row]));
  const touched = pages.flatMap(({ items }) => items).filter(({ volumeId }) => volumeIds.has(volumeId));
  if (!touched.every((row) => isAtItsPlace(row, now.get(row.id)))) return undefined;
  // Rebuilds that a list with more pages does not show may be behind the ones that were read.
  const isWhole = pages.at(-1)?.nextCursor === null;
  if (isWhole && touched.length < rows.length) return undefined;
  return pages.map((page) => ({ ...page, items: page.items.map((row) => now.get(row.id) ?? row) }));
}

function isAtItsPlace(shown: Rebuild, now: Rebuild | undefined): boolean {
  return now !== undefined && now.state === shown.state && now.queuePosition === shown.queuePosition;
}

/** Applies changes of rebuilds, named by their volumes, one round after the other. */
export function makeRebuildPatcher(
  queryClient: QueryClient,
  clusterId: string,
  refresher: ReturnType<typeof makeRefresher>,
) {
  let touched = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  async function run(): Promise<void> {
    const volumeIds = touched;
    touched = new Set();
    const lists = shownLists(queryClient, clusterId);
    const isPatched =
      volumeIds.size <= VOLUMES_MAX &&
      lists.length > 0 &&
      lists.every(({ state }) => state.fetchStatus !== 'fetching');
    if (!isPatched) return refresher.soon(['rebuilds']);
    try {
      const { items, nextCursor } = await api.activeRebuildsOf(clusterId, [...volumeIds]);
      const areApplied = lists.map(({ queryKey }) => apply(queryKey, { volumeIds, rows: items }));
      if (nextCursor !== null || areApplied.includes(false)) refresher.soon(['rebuilds']);
    } catch {
      refresher.soon(['rebuilds']);
    }
  }

  function apply(queryKey: readonly unknown[], { volumeIds, rows }: ActiveNow): boolean {
    const data = queryClient.getQueryData<InfiniteData<RebuildPage>>(queryKey);
    if (data === undefined) return true;
    const volumeId = String(queryKey[3] ?? '');
    const own = volumeId === '' ? rows : rows.filter((row) => row.volumeId === volumeId);
    const pages = patchRebuilds(data.pages, { volumeIds, rows: own });
    if (pages !== undefined)
      queryClient.setQueryData<InfiniteData<RebuildPage>>(queryKey, { ...data, pages });
    return pages !== undefined;
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

/** The lists of rebuilds that run or wait on the page that is shown; those of other pages are marked as not current any more. */
function shownLists(queryClient: QueryClient, clusterId: string) {
  const key = ['rebuilds', clusterId];
  void queryClient.invalidateQueries({ queryKey: key, type: 'inactive', refetchType: 'none' });
  return queryClient.getQueryCache().findAll({ queryKey: [...key, 'active'], type: 'active' });
}
