'use client';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { api, type MoveTarget } from './client';
import { useCluster } from './use-cluster';

/** Writes of clients, merges and hashes make no event: they are polled at this interval. */
const PROGRESS_POLL_MS = 1_000;
/** Also the pulse by which the console notices that the API does not answer any more. */
const RISK_POLL_MS = 3_000;
/** A user who sees some projects only gets no event of a deletion's end: nothing is left that names its project. */
const PASSING_POLL_MS = 10_000;
/** Capacity moves slowly and without events. */
export const CAPACITY_POLL_MS = 15_000;
/** A sample is taken every five minutes. */
const HISTORY_POLL_MS = 60_000;
const EVENTS_SHOWN = 100;
/** Events that follow from another one are folded under it. */
export const CAUSES_FILTER = 'causeId=0';

export const keys = {
  risk: (clusterId: string) => ['risk', clusterId] as const,
  counts: (clusterId: string) => ['counts', clusterId] as const,
  volumes: (clusterId: string) => ['volumes', clusterId] as const,
  volume: (clusterId: string, id: string) => ['volumes', clusterId, id] as const,
  nodes: (clusterId: string) => ['nodes', clusterId] as const,
  disks: (clusterId: string) => ['disks', clusterId] as const,
  orphans: (clusterId: string) => ['orphans', clusterId] as const,
  rebuilds: (clusterId: string) => ['rebuilds', clusterId] as const,
  activeRebuilds: (clusterId: string) => ['rebuilds', clusterId, 'active'] as const,
  alerts: (clusterId: string) => ['alerts', clusterId] as const,
  settings: (clusterId: string) => ['settings', clusterId] as const,
  setting: (clusterId: string, name: string) => ['settings', clusterId, name] as const,
  volumeSettings: (clusterId: string, volumeId: string) => ['settings', clusterId, 'of', volumeId] as const,
  events: (clusterId: string) => ['events', clusterId] as const,
};

export function useRisk() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.risk(id),
    queryFn: () => api.risk(id),
    refetchInterval: RISK_POLL_MS,
    // It is polled anyway, and silence must be noticed soon.
    retry: false,
  });
}

/** While another span is read, the previous one stays. */
export function useCapacityHistory(days: number) {
  const { id } = useCluster();
  return useQuery({
    queryKey: ['capacity', id, days],
    queryFn: () => api.capacity(id, days),
    refetchInterval: HISTORY_POLL_MS,
    placeholderData: keepPreviousData,
  });
}

/** The first volumes that match, at most a page. */
export function useSomeVolumes(filter: string, { sort = 'name', enabled = true } = {}) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volumes(id), 'some', filter, sort],
    queryFn: async () => (await api.volumePage(id, { filter, sort, cursor: undefined })).items,
    enabled,
  });
}

/** A filter has room for so many ids. */
export const IDS_PER_FILTER = 25;

/** Volumes by their ids, for their names: deleted ones are left out. */
export function useVolumesNamed(volumeIds: readonly string[]) {
  const { id } = useCluster();
  const wanted = [...new Set(volumeIds)].sort();
  return useQuery({
    queryKey: ['names', id, ...wanted],
    queryFn: async () => {
      const asks = Array.from({ length: Math.ceil(wanted.length / IDS_PER_FILTER) }, (_, index) =>
        wanted.slice(index * IDS_PER_FILTER, (index + 1) * IDS_PER_FILTER),
      );
      const pages = await Promise.all(
        asks.map((ids) =>
          api.volumePage(id, { filter: `id in (${ids.join(',')})`, sort: 'name', cursor: undefined }),
        ),
      );
      return pages.flatMap(({ items }) => items);
    },
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/**
 * A list a page at a time. While another filter is read, the previous result stays.
 *
 * @param isPassing true if an item may end without an event: the list is then polled
 */
export function usePages<Page extends { nextCursor: string | null }>(
  queryKey: readonly string[],
  askPage: (cursor: string | undefined) => Promise<Page>,
  isPassing: (page: Page) => boolean = () => false,
) {
  return useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam }) => askPage(pageParam),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.pages.some(isPassing) === true ? PASSING_POLL_MS : false),
  });
}

/** Volumes a page at a time, so that the first rows come as soon in a cluster of ten thousand. */
export function useVolumePages(filter: string, sort: string) {
  const { id } = useCluster();
  return usePages(
    [...keys.volumes(id), 'pages', filter, sort],
    (cursor) => api.volumePage(id, { filter, sort, cursor }),
    ({ items }) => items.some(({ state }) => state === 'deleting'),
  );
}

export function useVolume(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.volume(id, volumeId),
    queryFn: () => api.volume(id, volumeId),
    // Writes of a client make no event, and the page follows them.
    refetchInterval: ({ state }) =>
      state.data?.replicas.some((replica) => replica.mode !== null) ? PROGRESS_POLL_MS * 3 : false,
  });
}

export function useVolumeSettings(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.volumeSettings(id, volumeId),
    queryFn: () => api.volumeSettings(id, volumeId),
  });
}

/** Under the volume's own key: what changes the volume changes its explanation. */
export function useExplanation(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volume(id, volumeId), 'explanation'],
    queryFn: () => api.explainVolume(id, volumeId),
  });
}

/** Under the volume's own key, as above. */
export function useSalvageAdvice(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volume(id, volumeId), 'salvage'],
    queryFn: () => api.salvageAdvice(id, volumeId),
  });
}

/** Under the volume's own key, as above. */
export function useMovePlan(volumeId: string, replicaId: string, target: MoveTarget) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volume(id, volumeId), 'move', replicaId, target.diskId ?? ''],
    queryFn: () => api.planMove(id, volumeId, replicaId, target),
  });
}

/** Under the volume's own key, as above. */
export function usePatchPlan(volumeId: string, numberOfReplicas: number) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volume(id, volumeId), 'patch', numberOfReplicas],
    queryFn: () => api.planPatch(id, volumeId, { numberOfReplicas }),
  });
}

/** Under the volume's own key: an event of the volume reads them again. */
export function useSnapshots(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volume(id, volumeId), 'snapshots'],
    queryFn: () => api.snapshots(id, volumeId),
    refetchInterval: ({ state }) =>
      state.data?.some((snapshot) => snapshot.state !== 'ready' || snapshot.isHashing)
        ? PROGRESS_POLL_MS * 3
        : false,
  });
}

export function useOrphans() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.orphans(id),
    queryFn: () => api.orphans(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

/** All that fire or are silenced: a user who saw a part of them would take the rest for over. */
export function useAlertsNow() {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.alerts(id), 'now'],
    queryFn: () => api.alertsNow(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

/** Those that are over, the last first, a page at a time. */
export function useResolvedAlerts() {
  const { id } = useCluster();
  return usePages([...keys.alerts(id), 'resolved'], (cursor) => api.resolvedAlertPage(id, cursor));
}

/** Under the alerts' key: a silence changes their state. */
export function useSilences() {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.alerts(id), 'silences'],
    queryFn: () => api.silences(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

/** Of the whole organization. Its entries make no event, so the first page is read again when the user returns to it. */
export function useAuditPages(filter: string) {
  return usePages(['audit', filter], (cursor) => api.auditPage({ filter, cursor }));
}

export function useSettings() {
  const { id } = useCluster();
  return useQuery({ queryKey: keys.settings(id), queryFn: () => api.settings(id) });
}

export function useSetting(name: string) {
  const { id } = useCluster();
  return useQuery({ queryKey: keys.setting(id, name), queryFn: () => api.setting(id, name) });
}

/** The last matching events: those without a cause, unless others are requested. */
export function useEvents(filter = CAUSES_FILTER, limit = EVENTS_SHOWN) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.events(id), filter],
    queryFn: () => api.events(id, limit, filter),
  });
}

/** All events that match, a page at a time. */
export function useEventPages(filter: string) {
  const { id } = useCluster();
  return usePages([...keys.events(id), 'pages', filter], (cursor) => api.eventPage(id, { filter, cursor }));
}
