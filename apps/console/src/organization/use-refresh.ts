'use client';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';

/** Asks for all again that is about the organization: its changes make no event of a cluster. */
export function useRefresh(): () => void {
  const queryClient = useQueryClient();
  return useCallback(() => {
    void queryClient.invalidateQueries({ queryKey: ['organization'] });
    void queryClient.invalidateQueries({ queryKey: ['permissions'] });
  }, [queryClient]);
}
