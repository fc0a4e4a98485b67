'use client';
import { useCallback, useMemo } from 'react';
import { useNodes, useVolumesNamed } from '../api/queries';

/** Names for ids, as far as they are known; an id's beginning until then. */
export function useNames(volumeIds: readonly string[]) {
  const volumes = useVolumesNamed(volumeIds);
  return {
    volume: (id: string) => volumes.data?.find((volume) => volume.id === id)?.name ?? short(id),
    node: useNodeNames(),
  };
}

/** The same of nodes only, which are few beside the volumes. */
export function useNodeNames(): (id: string | null) => string {
  const { data } = useNodes();
  const names = useMemo(() => new Map((data ?? []).map(({ id, name }) => [id, name])), [data]);
  return useCallback((id) => (id === null ? '–' : (names.get(id) ?? short(id))), [names]);
}

function short(id: string): string {
  return id.slice(0, 8);
}
