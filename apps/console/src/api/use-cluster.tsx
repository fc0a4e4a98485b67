'use client';
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useEffect } from 'react';
import { api } from './client';
import { isProblem } from './problem';
import type { Cluster } from './types';

const RETRY_MS = 3_000;

const ClusterContext = createContext<Cluster | undefined>(undefined);

/** The cluster that every panel below reads. */
export function useCluster(): Cluster {
  const cluster = useContext(ClusterContext);
  if (cluster === undefined) throw new Error('useCluster is used outside ClusterProvider');
  return cluster;
}

type Props = {
  children: ReactNode;
  loading: ReactNode;
  signedOut: () => void;
  problem: (error: unknown, retry: () => void) => ReactNode;
};

/** Finds the first cluster the session may see; without a session it asks for a sign-in. */
export function ClusterProvider({ children, loading, signedOut, problem }: Props) {
  const query = useQuery({
    queryKey: ['clusters'],
    queryFn: api.clusters,
    // A page that is opened while the API is away comes up once it is back.
    retry: false,
    refetchInterval: ({ state }) => (state.data === undefined ? RETRY_MS : false),
  });
  const needsSignIn = isProblem(query.error) && query.error.status === 401;
  useEffect(() => {
    if (needsSignIn) signedOut();
  }, [needsSignIn, signedOut]);
  if (query.isPending || needsSignIn) return loading;
  const cluster = query.data?.[0];
  if (cluster === undefined) return problem(query.error, () => void query.refetch());
  return <ClusterContext.Provider value={cluster}>{children}</ClusterContext.Provider>;
}
