'use client';
import { useQuery } from '@tanstack/react-query';
import { api, type MoveTarget } from './client';
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
  orphans: (clusterId: string) => ['orphans', clusterId] as const,
  rebuilds: (clusterId: string) => ['rebuilds', clusterId] as const,
  setting: (clusterId: string, name: string) => ['settings', clusterId, name] as const,
  volumeSettings: (clusterId: string, volumeId: string) => ['settings', clusterId, 'of', volumeId] as const,
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

/** Under the volume's own key: an event of the volume asks for them again. */
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

export function useNodes() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.nodes(id),
    queryFn: () => api.nodes(id),
    refetchInterval: CAPACITY_POLL_MS,
  });
}

export function useDisks() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.disks(id),
    queryFn: () => api.disks(id),
    refetchInterval: CAPACITY_POLL_MS,
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

export function useRebuilds() {
  const { id } = useCluster();
  return useQuery({
    queryKey: keys.rebuilds(id),
    queryFn: () => api.rebuilds(id),
    refetchInterval: ({ state }) =>
      state.data?.some((rebuild) => rebuild.state === 'running' || rebuild.state === 'queued')
        ? PROGRESS_POLL_MS
        : false,
  });
}

export function useSetting(name: string) {
  const { id } = useCluster();
  return useQuery({ queryKey: keys.setting(id, name), queryFn: () => api.setting(id, name) });
}

export function useEvents(filter?: string) {
  const { id } = useCluster();
  return useQuery({
    queryKey: [...keys.events(id), filter ?? ''],
    queryFn: () => api.events(id, EVENTS_SHOWN, filter),
  });
}
