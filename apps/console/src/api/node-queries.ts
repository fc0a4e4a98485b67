'use client';
import { useQuery } from '@tanstack/react-query';
import { ask, CLUSTER, client, DISK, NODE } from './client';
import { keys, useEventPages, useVolumePages } from './queries';
import { useCluster } from './use-cluster';

/** A node tells of its drain's progress and its heartbeat without events. */
const NODE_POLL_MS = 5_000;

/** Under the nodes' key, as all that is known of one: what changes a node asks for it again. */
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

/** Volumes with a copy in the place, a page at a time. */
export function useVolumesIn({ kind, id }: Place) {
  return useVolumePages(`replicas.${kind}Id=${id}`, '-risk,name');
}

/** What happened to the node with its disks and copies, or to the disk. */
export function useEventsOf({ kind, id }: Place) {
  return useEventPages(kind === 'node' ? `nodeId=${id}` : `subjectKind=disk AND subjectId=${id}`);
}
