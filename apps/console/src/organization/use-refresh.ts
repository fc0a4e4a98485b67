'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** All that is read about the organization: its changes make no event of a cluster. */
export const ORGANIZATION_KEYS = [['organization'], ['permissions']] as const;

/** Asks for all again that is about the organization. */
export function useRefresh(): () => void {
  const queryClient = useQueryClient();
  return useCallback(() => {
    for (const queryKey of ORGANIZATION_KEYS) void queryClient.invalidateQueries({ queryKey });
  }, [queryClient]);
}
