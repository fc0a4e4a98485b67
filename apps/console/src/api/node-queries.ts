'use client';
import { keepPreviousData, useQueries, useQuery } from '@tanstack/react-query';
import DataLoader from 'dataloader';
import { beginningOf } from '../short-id';
import { api, ask, CLUSTER, client, DISK, NODE } from './client';
import { CAPACITY_POLL_MS, IDS_PER_FILTER, keys, useEventPages, usePages, useVolumePages } from './queries';
import { useCluster } from './use-cluster';

/** A drain's progress and heartbeats change a node without events. */
const NODE_POLL_MS = 5_000;

/** While a user waits for a node to join. */
const JOIN_POLL_MS = 2_000;

/** Under the nodes' key, like everything about one: a change of a node reads it again. */
export function useNode(nodeId: string) {
  const { id: clusterId } = useCluster();
  return useQuery({
    queryKey: [...keys.nodes(clusterId), nodeId],
    queryFn: () => ask(client.GET(NODE, { params: { path: { clusterId, nodeId } } })),
    refetchInterval: NODE_POLL_MS,
  });
}

export function useDisk(nodeId: string, diskId: string) {
  const { id: clusterId } = useCluster();
  return useQuery({
    queryKey: [...keys.disks(clusterId), diskId],
    queryFn: () => ask(client.GET(DISK, { params: { path: { clusterId, nodeId, diskId } } })),
    refetchInterval: NODE_POLL_MS,
  });
}

/** Orphans on one disk; a disk has few. */
export function useOrphansOn(diskId: string) {
  const { id: clusterId } = useCluster();
  return useQuery({
    queryKey: [...keys.orphans(clusterId), 'of', diskId],
    queryFn: async () => {
      const query = { limit: 100, filter: `diskId=${diskId}` };
      return (await ask(client.GET(`${CLUSTER}/orphans`, { params: { path: { clusterId }, query } }))).items;
    },
  });
}

/** Where copies are looked for. */
export type Place = { readonly kind: 'node' | 'disk'; readonly id: string };

/** Filter for volumes with a copy in the place. */
export const copiesIn = ({ kind, id }: Place) => `replicas.${kind}Id=${id}`;
/** Those that need attention first. */
export const COPIES_SORT = '-risk,name';

/** Volumes with a copy in the place, a page at a time. */
export function useVolumesIn(place: Place) {
  return useVolumePages(copiesIn(place), COPIES_SORT);
}

/** All volumes with a copy on the node, for what its loss costs: a part of them would be untrue. */
export function useAllVolumesOn(nodeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.volumes(id), 'all-on', nodeId],
    queryFn: () => api.volumesThat(id, copiesIn({ kind: 'node', id: nodeId })),
  });
}

export const eventsOf = ({ kind, id }: Place) =>
  kind === 'node' ? `nodeId=${id}` : `subjectKind=disk AND subjectId=${id}`;

/** Events of the node with its disks and copies, or of the disk. */
export function useEventsOf(place: Place) {
  return useEventPages(eventsOf(place));
}

/** Zones with their sums from the API: as small for a thousand nodes as for three. Under the nodes' key. */
export function useZones() {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.nodes(id), 'zones'],
    queryFn: () => api.zones(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

/** Disks by their ids, for their names, up to a filter's room: deleted ones are left out. */
export function useDisksNamed(diskIds: readonly string[]) {
  const { id } = useCluster();
  const wanted = idsOf(diskIds);
  return useQuery({
    queryKey: ['names', id, 'disks', ...wanted],
    queryFn: () => api.disks(id, `id in (${wanted.join(',')})`),
    enabled: wanted.length > 0,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export type Some = { filter?: string; sort?: string; limit: number; enabled?: boolean };

/** The first matching nodes. They stay while others are read. */
export function useSomeNodes({ filter = '', sort = 'name', limit, enabled = true }: Some) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.nodes(id), 'some', filter, sort, limit],
    queryFn: async () => (await api.nodePage(id, { filter, sort, limit, cursor: undefined })).items,
    refetchInterval: CAPACITY_POLL_MS,
    placeholderData: keepPreviousData,
    enabled,
  });
}

/** A node that is waited for; null while it is not there. Under the nodes' key, so that its coming is seen at once. */
export function useNodeNamed(name: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.nodes(id), 'named', name],
    queryFn: async () =>
      (await api.nodePage(id, { filter: `name=${name}`, limit: 1, cursor: undefined })).items[0] ?? null,
    refetchInterval: JOIN_POLL_MS,
  });
}

/** The first disks that match. */
export function useSomeDisks({ filter = '', sort = 'name', limit, enabled = true }: Some) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.disks(id), 'some', filter, sort, limit],
    queryFn: async () => (await api.diskPage(id, { filter, sort, limit, cursor: undefined })).items,
    refetchInterval: CAPACITY_POLL_MS,
    enabled,
  });
}

/** Nodes a page at a time. */
export function useNodePages(filter: string, { sort, limit }: { sort: string; limit: number }) {
  const { id } = useCluster();
  return usePages([...keys.nodes(id), 'pages', filter, sort, String(limit)], (cursor) =>
    api.nodePage(id, { filter, sort, limit, cursor }),
  );
}

/** One page of matching nodes. It stays while another one is read. */
export function useNodePage(page: {
  filter: string;
  sort: string;
  limit: number;
  cursor: string | undefined;
}) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.nodes(id), 'page', page],
    queryFn: () => api.nodePage(id, page),
    refetchInterval: CAPACITY_POLL_MS,
    placeholderData: keepPreviousData,
  });
}

/** Nodes by their ids, up to a filter's room: those of one volume, of one page. */
export function useNodesById(nodeIds: readonly (string | null)[]) {
  const { id } = useCluster();
  const wanted = idsOf(nodeIds);
  return useQuery({
    queryKey: [...keys.nodes(id), 'of', ...wanted],
    queryFn: () => api.nodes(id, `id in (${wanted.join(',')})`),
    refetchInterval: CAPACITY_POLL_MS,
    placeholderData: keepPreviousData,
    enabled: wanted.length > 0,
  });
}

/** All disks of some nodes, up to a filter's room of nodes. */
export function useDisksOf(nodeIds: readonly (string | null)[]) {
  const { id } = useCluster();
  const wanted = idsOf(nodeIds);
  return useQuery({
    queryKey: [...keys.disks(id), 'of', ...wanted],
    queryFn: () => api.disks(id, `nodeId in (${wanted.join(',')})`),
    refetchInterval: CAPACITY_POLL_MS,
    placeholderData: keepPreviousData,
    enabled: wanted.length > 0,
  });
}

function idsOf(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => (id === null ? [] : [id])))].sort().slice(0, IDS_PER_FILTER);
}

/** Replicas on the disks of some nodes, and volumes that these serve, counted. */
export function useReplicaCounts(nodeIds: readonly string[]) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.counts(id), ...nodeIds],
    queryFn: () => api.replicaCounts(id, nodeIds),
    refetchInterval: CAPACITY_POLL_MS,
    placeholderData: keepPreviousData,
    enabled: nodeIds.length > 0,
  });
}

/** Requests of the same moment, such as those of a list's rows, are one request. */
const loaders = new Map<string, DataLoader<string, string>>();

function nodeNamesIn(clusterId: string): DataLoader<string, string> {
  const known = loaders.get(clusterId);
  if (known !== undefined) return known;
  const loader = new DataLoader<string, string>(
    async (ids) => {
      const nodes = await api.nodes(clusterId, `id in (${ids.join(',')})`);
      const names = new Map(nodes.map(({ id, name }) => [id, name]));
      return ids.map((id) => names.get(id) ?? beginningOf(id));
    },
    // The query's own cache keeps them.
    { cache: false, maxBatchSize: IDS_PER_FILTER },
  );
  loaders.set(clusterId, loader);
  return loader;
}

/** A name never changes: a node of another name is another node. */
function nameQuery(clusterId: string, nodeId: string) {
  return {
    queryKey: ['names', clusterId, 'node', nodeId],
    queryFn: () => nodeNamesIn(clusterId).load(nodeId),
    staleTime: Number.POSITIVE_INFINITY,
  };
}

/** Names of nodes, each an id's beginning until it is known. */
export function useNodeNames(nodeIds: readonly (string | null)[]): (id: string | null) => string {
  const { id: clusterId } = useCluster();
  const wanted = [...new Set(nodeIds.flatMap((id) => (id === null ? [] : [id])))];
  const found = useQueries({ queries: wanted.map((id) => nameQuery(clusterId, id)) });
  const names = new Map(wanted.map((id, at) => [id, found[at]?.data]));
  return (id) => (id === null ? '–' : (names.get(id) ?? beginningOf(id)));
}
