'use client';
/** Rebuilds as pages show them: those that run or wait, in the order of the queue, and those that have ended, newest first. */
import { useQuery } from '@tanstack/react-query';
import { ACTIVE_REBUILDS, api, ENDED_REBUILDS, ENDED_REBUILDS_SORT } from './client';
import { keys, usePages } from './queries';
import { useCluster } from './use-cluster';

/** Each takes a few lines, and more are a button away: the rest of the page must stay within reach. */
const ACTIVE_SHOWN = 25;
const ENDED_SHOWN = 50;
/** Of a volume that has been rebuilt often, the last ones say enough at first. */
const ENDED_OF_VOLUME = 5;

const filterOf = (states: string, volumeId: string | undefined) =>
  volumeId === undefined ? states : `volumeId=${volumeId} AND ${states}`;

/**
 * Running rebuilds, then waiting ones by queue position, a page at a time; of one volume if it is given. The stream reports each
 * change; the positions behind it are polled.
 */
export function useActiveRebuilds(volumeId?: string) {
  const { id } = useCluster();
  return usePages(
    [...keys.activeRebuilds(id), volumeId ?? ''],
    (cursor) => {
      const filter = filterOf(ACTIVE_REBUILDS, volumeId);
      return api.rebuildPage(id, { filter, sort: 'queueOrder', cursor, limit: ACTIVE_SHOWN });
    },
    ({ items }) => items.length > 0,
  );
}

/** Rebuilds that have ended, newest first, a page at a time; of one volume where it is given, a few at a time. */
export function useEndedRebuilds(volumeId?: string) {
  const { id } = useCluster();
  const limit = volumeId === undefined ? ENDED_SHOWN : ENDED_OF_VOLUME;
  return usePages([...keys.rebuilds(id), 'ended', volumeId ?? ''], (cursor) =>
    api.rebuildPage(id, {
      filter: filterOf(ENDED_REBUILDS, volumeId),
      sort: ENDED_REBUILDS_SORT,
      cursor,
      limit,
    }),
  );
}

/**
 * Number of rebuilds in the queue: the place of the last of them.
 *
 * @param isAsked false where a page shows them all anyway
 */
export function useQueueLength(isAsked: boolean) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.rebuilds(id), 'length'],
    queryFn: async () => {
      const last = { filter: 'state=queued', sort: '-queueOrder', cursor: undefined, limit: 1 };
      return (await api.rebuildPage(id, last)).items[0]?.queuePosition ?? 0;
    },
    enabled: isAsked,
  });
}
