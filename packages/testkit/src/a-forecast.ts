import { GIB } from '@holdfast/core/model/bytes.js';

/** A forecast as the API answers: of 22 volumes the first waits for its users, the others get both their copies. */
export const A_FORECAST = {
  time: { lowSeconds: 90, p50Seconds: 120, p90Seconds: 600, basis: 'measured' as const },
  rebuilds: 1,
  bytesToMove: GIB,
  volumesLost: 0,
  volumesDegraded: 1,
  volumesUnschedulable: 0,
  volumesWaiting: 1,
  lowWater: { copies: 1, volumes: 2 },
  volumes: {
    total: 22,
    shown: Array.from({ length: 22 }, (_, at) => ({
      volumeId: `v${at}`,
      volumeName: `pg-${at}`,
      end: at === 0 ? ('waiting' as const) : ('full' as const),
      why: at === 0 ? 'it is detached' : null,
      copiesWanted: 2,
      copiesNow: 2,
      copiesAtLowest: 1,
      copiesAtEnd: at === 0 ? 1 : 2,
      bytesToMove: GIB,
    })),
  },
  firstUnschedulable: null,
  isCut: false,
};
