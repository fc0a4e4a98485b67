/**
 * Applies the stream's messages to the displayed lists: rows of volumes are read by their ids and put into their lists. Only if too
 * much changes at once is a list read again.
 */
import type { InfiniteData, Query, QueryClient } from '@tanstack/react-query';
import { api } from '../client';
import { patchPages } from './patch-rows';
import type { makeRefresher } from './refresher';

/** Ids for which one filter has room beside the list's own. */
const ROWS_MAX = 20;
/** Changes within this time are read together. */
const COLLECT_MS = 250;
/** Short lists beside the large one show a few volumes of a hundred, and follow more slowly. */
const SHORT_LIST_PAUSE_MS = 2_000;

type VolumePages = InfiniteData<Awaited<ReturnType<typeof api.volumePage>>>;
type Refresher = ReturnType<typeof makeRefresher>;

/** Applies changes of volumes, some at a time and one round after the other. */
export function makeVolumePatcher(queryClient: QueryClient, clusterId: string, refresher: Refresher) {
  let touched = new Set<string>();
  /** Volumes whose pages, or the short lists, are to be read again after a pause. */
  let waiting = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isAsking = false;
  const isShown = { queryKey: ['volumes', clusterId], type: 'active' } as const;

  async function run(): Promise<void> {
    timer = undefined;
    if (isAsking) return later();
    const ids = touched;
    const due = new Set([...waiting, ...ids]);
    touched = new Set();
    waiting = new Set();
    const key = ['volumes', clusterId];
    void queryClient.invalidateQueries({ queryKey: key, type: 'inactive', refetchType: 'none' });
    const shown = queryClient.getQueryCache().findAll(isShown);
    const pages = shown.filter(({ queryKey }) => queryKey[2] === 'pages');
    const isTooMuch = ids.size > ROWS_MAX || pages.some(({ state }) => state.fetchStatus === 'fetching');
    if (isTooMuch && pages.length > 0) refresher.soon(['volumes']);
    for (const query of shown) if (query.queryKey[2] !== 'pages') refresh(query, due);
    for (const id of ids) void queryClient.invalidateQueries({ queryKey: ['settings', clusterId, 'of', id] });
    if (isTooMuch || ids.size === 0) return;
    isAsking = true;
    try {
      await Promise.all(pages.map((query) => patch(query, ids)));
    } catch {
      refresher.soon(['volumes']);
    } finally {
      isAsking = false;
    }
  }

  async function patch({ queryKey }: Query, ids: ReadonlySet<string>): Promise<void> {
    const [, , , filter, sort] = queryKey.map(String);
    if (filter === undefined || sort === undefined) return;
    const wanted = `id in (${[...ids].join(',')})`;
    const { items: rows } = await api.volumePage(clusterId, {
      filter: filter === '' ? wanted : `(${filter}) AND ${wanted}`,
      sort: 'name',
      cursor: undefined,
    });
    queryClient.setQueryData<VolumePages>(
      queryKey,
      (data) => data && { ...data, pages: patchPages(data.pages, { ids, rows }, sort) },
    );
  }

  /** A volume's own page, or a short list that contains it or may contain it. */
  function refresh({ queryKey, state }: Query, due: ReadonlySet<string>): void {
    const [, , what] = queryKey.map(String);
    if (what === undefined || (what !== 'some' && !due.has(what))) return;
    const isFresh = what === 'some' && Date.now() - state.dataUpdatedAt < SHORT_LIST_PAUSE_MS;
    if (!isFresh && state.fetchStatus !== 'fetching') {
      void queryClient.invalidateQueries({ queryKey, exact: true });
      return;
    }
    waiting.add(what);
    later();
  }

  function later(): void {
    timer ??= setTimeout(() => void run(), COLLECT_MS);
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
