'use client';
import { useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import type { LiveState } from '../api/live/use-live';
import { useRisk } from '../api/queries';

/** `cut`: the API does not answer, so that everything shown is from before. */
export type Freshness = LiveState | 'cut';

const FreshnessContext = createContext<Freshness>('connecting');

export function useFreshness(): Freshness {
  return useContext(FreshnessContext);
}

/**
 * Tells every panel whether its data can be current. An open stream proves nothing while the API hangs, so the console also polls it
 * every few seconds. Once it answers again, everything is read anew.
 */
export function FreshnessProvider({ live, children }: { live: LiveState; children: ReactNode }) {
  const queryClient = useQueryClient();
  const isCut = useRisk().isError;
  const wasCut = useRef(false);
  useEffect(() => {
    if (wasCut.current && !isCut) void queryClient.invalidateQueries();
    wasCut.current = isCut;
  }, [isCut, queryClient]);
  return <FreshnessContext.Provider value={isCut ? 'cut' : live}>{children}</FreshnessContext.Provider>;
}
