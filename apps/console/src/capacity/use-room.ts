'use client';
import { useQueries, useQuery } from '@tanstack/react-query';
import { api, type WhatIf } from '../api/client';
import type { Simulation } from '../api/types';
import { useCluster } from '../api/use-cluster';
import type { Kind, Room, RoomAfter } from './verdict';

/** The cluster moves slowly against this, and each question costs the API a moment of work. */
const FRESH_MS = 60_000;
/** Zones in the question: a cluster has a few. */
const ZONES_MAX = 12;

/** How many more volumes of the kind fit as the cluster is. */
export function useRoomNow(kind: Kind, isAllowed: boolean) {
  const cluster = useCluster();
  return useQuery({ ...roomQuery(cluster.id, kind, undefined), enabled: isAllowed });
}

/** How many would after the loss of each zone, asked one by one. */
export function useRoomAfter(kind: Kind, zones: readonly string[], isAllowed: boolean): RoomAfter[] {
  const cluster = useCluster();
  const asked = zones.slice(0, ZONES_MAX);
  const answers = useQueries({
    queries: asked.map((zone) => ({ ...roomQuery(cluster.id, kind, zone), enabled: isAllowed })),
  });
  return asked.map((zone, index) => ({ zone, room: answers[index]?.data }));
}

function roomQuery(clusterId: string, kind: Kind, zone: string | undefined) {
  return {
    queryKey: ['room', clusterId, kind.sizeBytes, kind.numberOfReplicas, zone ?? ''],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      roomIn(await api.simulate(clusterId, questionOf(kind, zone), signal)),
    staleTime: FRESH_MS,
    retry: false,
    refetchOnWindowFocus: false,
  };
}

function questionOf({ sizeBytes, numberOfReplicas }: Kind, zone: string | undefined): WhatIf {
  return {
    volumes: [{ count: 1, size: sizeBytes, numberOfReplicas }],
    lose: { zones: zone === undefined ? [] : [zone], nodes: [], disks: [] },
    add: { disks: [] },
    drain: [],
    settings: {},
    howManyMore: true,
  };
}

/** The question is one volume, and how many more after it. */
function roomIn({ shapes }: Simulation): Room {
  const [shape] = shapes;
  const more = shape?.howManyMore;
  const limitedBy = shape?.firstFailure?.explanation.sentence ?? more?.limitedBy ?? null;
  return { count: (shape?.fit ?? 0) + (more?.count ?? 0), isAtLeast: more?.isAtLeast ?? false, limitedBy };
}
