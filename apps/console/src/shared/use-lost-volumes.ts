'use client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';
import { CAPACITY_POLL_MS, keys } from '../api/queries';
import type { Recovery } from '../api/types';
import { useAllowed } from '../api/use-access';
import { useCluster } from '../api/use-cluster';

/**
 * Volumes that the database has lost and copies on the disks make up. Under the orphans' key: a change of orphans reads them again.
 * Nothing for users who may not recover them.
 */
export function useLostVolumes() {
  const { id } = useCluster();
  const isAllowed = useAllowed()('node:write');
  return useQuery({
    queryKey: [...keys.orphans(id), 'recoveries'],
    queryFn: async () => (await api.recoveries(id)).filter(isLost),
    refetchInterval: CAPACITY_POLL_MS,
    enabled: isAllowed,
  });
}

/** Left over from an existing volume: nothing is lost with them. */
export function isLost({ obstacle }: Recovery): boolean {
  return obstacle?.code !== 'NotNeeded';
}
