'use client';
import { useNodeNames } from '../api/node-queries';
import { useVolumesNamed } from '../api/queries';
import { beginningOf } from '../short-id';

type Named = { readonly volumeId: string; readonly targetNodeId: string | null };

/** Names of rebuilds' volumes and targets, as far as they are known; an id's beginning until then. */
export function useNames(rebuilds: readonly Named[]) {
  const volumes = useVolumesNamed(rebuilds.map(({ volumeId }) => volumeId));
  const node = useNodeNames(rebuilds.map(({ targetNodeId }) => targetNodeId));
  return {
    volume: (id: string) => volumes.data?.find((volume) => volume.id === id)?.name ?? beginningOf(id),
    node,
  };
}
