'use client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { api } from './client';
import type { Disk } from './types';
import { useCluster } from './use-cluster';

/** While something is rebuilt its progress is asked for this often; progress itself makes no event. */
const PROGRESS_POLL_MS = 1_000;
/** Capacity moves slowly and without events. */
const CAPACITY_POLL_MS = 15_000;
const EVENTS_SHOWN = 50;

export const keys = {
  volumes: (clusterId: string) => ['volumes', clusterId] as const,
  volume: (clusterId: string, id: string) => ['volumes', clusterId, id] as const,
  nodes: (clusterId: string) => ['nodes', clusterId] as const,
  disks: (clusterId: string) => ['disks', clusterId] as const,
  rebuilds: (clusterId: string) => ['rebuilds', clusterId] as const,
  events: (clusterId: string) => ['events', clusterId] as const,
};

export function useVolumes() {
  const { id } = useCluster();
  return useQuery({ queryKey: keys.volumes(id), queryFn: () => api.volumes(id) });
}

export function useVolume(volumeId: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.volume(id, volumeId),
    queryFn: () => api.volume(id, volumeId),
    refetchInterval: ({ state }) =>
      state.data?.replicas.some((replica) => replica.mode === 'WO') ? PROGRESS_POLL_MS * 3 : false,
  });
}

export function useNodes() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.nodes(id),
    queryFn: () => api.nodes(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

/** The disks of all nodes. `data` is there once every node's have come. */
export function useDisks() {
  const { id } = useCluster();
  const nodes = useNodes();
  const perNode = useQueries({
    queries: (nodes.data ?? []).map((node) => ({
      queryKey: [...keys.disks(id), node.id],
      queryFn: () => api.disks(id, node.id),
      refetchInterval: CAPACITY_POLL_MS,
    })),
  });
  const settled = nodes.data !== undefined && perNode.every((query) => query.data !== undefined);
  const data: Disk[] | undefined = settled ? perNode.flatMap((query) => query.data ?? []) : undefined;
  return {
    data,
    isPending: !settled,
    error: nodes.error ?? perNode.find((query) => query.error)?.error ?? null,
    dataUpdatedAt: Math.min(nodes.dataUpdatedAt, ...perNode.map((query) => query.dataUpdatedAt)),
    refetch: () => void Promise.all([nodes.refetch(), ...perNode.map((query) => query.refetch())]),
  };
}

export function useRebuilds() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.rebuilds(id),
    queryFn: async () => (await api.rebuilds(id)).items,
    refetchInterval: ({ state }) =>
      state.data?.some((rebuild) => rebuild.state === 'running' || rebuild.state === 'queued')
        ? PROGRESS_POLL_MS
        : false,
  });
}

export function useEvents(filter?: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.events(id), filter ?? ''],
    queryFn: async () => (await api.events(id, EVENTS_SHOWN, filter)).items,
  });
}
