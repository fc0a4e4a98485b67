'use client';
import { useNodes, useVolumes } from '../api/queries';

/** Names for ids, as far as they are known; an id's beginning until then. */
export function useNames() {
  const volumes = useVolumes();
  const nodes = useNodes();
  const short = (id: string) => id.slice(0, 8);
  return {
    volume: (id: string) => volumes.data?.find((volume) => volume.id === id)?.name ?? short(id),
    node: (id: string | null) =>
      id === null ? '–' : (nodes.data?.find((node) => node.id === id)?.name ?? short(id)),
  };
}
