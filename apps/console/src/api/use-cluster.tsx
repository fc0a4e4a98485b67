'use client';
import { useQuery } from '@tanstack/react-query';
import { createContext, type ReactNode, useCallback, useContext, useEffect, useMemo, useState } from 'react';
import { api } from './client';
import { isProblem } from './problem';
import type { Cluster } from './types';

const RETRY_MS = 3_000;

/** The cluster that this browser showed last. */
const CHOICE = 'holdfast-cluster';

type Choice = { cluster: Cluster; clusters: readonly Cluster[]; choose: (clusterId: string) => void };

const ClusterContext = createContext<Choice | undefined>(undefined);

/** The cluster that every panel below reads, and the others that there are. */
export function useClusterChoice(): Choice {
  const choice = useContext(ClusterContext);
  if (choice === undefined) throw new Error('useCluster is used outside ClusterProvider');
  return choice;
}

/** Also if none is shown yet: then it is shown first. */
export function useChooseCluster(): (clusterId: string) => void {
  return useContext(ClusterContext)?.choose ?? keepChoice;
}

function keepChoice(clusterId: string): void {
  localStorage.setItem(CHOICE, clusterId);
}

export function useCluster(): Cluster {
  return useClusterChoice().cluster;
}

type Props = {
  children: ReactNode;
  loading: ReactNode;
  signedOut: () => void;
  problem: (error: unknown, retry: () => void) => ReactNode;
};

/** Reads the clusters of the session, and shows the last chosen one; without a session it leads to the sign-in. */
export function ClusterProvider({ children, loading, signedOut, problem }: Props) {
  const query = useQuery({
    queryKey: ['clusters'],
    queryFn: api.clusters,
    // A page that is opened while the API is unavailable appears once it is back.
    retry: false,
    refetchInterval: ({ state }) => (state.data === undefined ? RETRY_MS : false),
  });
  const needsSignIn = isProblem(query.error) && query.error.status === 401;
  useEffect(() => {
    if (needsSignIn) signedOut();
  }, [needsSignIn, signedOut]);
  if (query.isPending || needsSignIn) return loading;
  if (query.data?.[0] === undefined) return problem(query.error, () => void query.refetch());
  return <Chosen clusters={query.data}>{children}</Chosen>;
}

function Chosen({ clusters, children }: { clusters: readonly Cluster[]; children: ReactNode }) {
  const [chosenId, setChosenId] = useState(() => localStorage.getItem(CHOICE));
  const choose = useCallback((clusterId: string) => {
    keepChoice(clusterId);
    setChosenId(clusterId);
  }, []);
  const cluster = clusters.find(({ id }) => id === chosenId) ?? clusters[0];
  const choice = useMemo(
    () => (cluster === undefined ? undefined : { cluster, clusters, choose }),
    [cluster, clusters, choose],
  );
  return <ClusterContext.Provider value={choice}>{children}</ClusterContext.Provider>;
}
