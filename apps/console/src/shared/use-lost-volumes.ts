'use client';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';
import { CAPACITY_POLL_MS, keys } from '../api/queries';
import type { Recovery } from '../api/types';
import { useAllowed } from '../api/use-access';
import { useCluster } from '../api/use-cluster';

/**
 * Volumes that the database has lost and copies on the disks make up. Under the orphans' key: what makes or ends an orphan asks for
 * them again. Whoever may not recover them is not asked.
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

/** Left over from a volume that is there: nothing is lost with them. */
export function isLost({ obstacle }: Recovery): boolean {
  return obstacle?.code !== 'NotNeeded';
}
