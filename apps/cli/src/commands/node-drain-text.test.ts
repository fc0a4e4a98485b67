import { expect, test } from '@jest/globals';
import type { DrainPlan } from '../types.js';
import { planText } from './node-drain-text.js';

const VOLUME = {
  volumeId: 'v1',
  volumeName: 'pg-data',
  outcome: 'moves',
  engine: 'elsewhere',
  targetNodeIds: ['n2'],
  bytesToMove: 1024 ** 3,
  copiesNow: 2,
  copiesAtLowest: 2,
  waitsUntil: null,
  blockers: [],
} as const;

const PLAN: DrainPlan = {
  policy: 'block-for-eviction',
  isPossible: true,
  replicasToMove: 1,
  replicasToStay: 0,
  bytesToMove: 1024 ** 3,
  time: { lowSeconds: 50, p50Seconds: 60, p90Seconds: 600, basis: 'measured' },
  copiesAtLowest: 2,
  volumeCount: 1,
  volumes: [{ ...VOLUME, targetNodeIds: ['n2'], blockers: [] }],
};
const NAMES = new Map([['n2', 'node-2']]);

test('a plan says what moves where, how long it takes and how many copies are left', () => {
  expect(planText('node-1', PLAN, NAMES).split('\n')).toEqual([
    'drain of node-1 with policy block-for-eviction: possible',
    '  moves 1 replica, 1 GiB; 0 stay',
    '  takes 50 s to 10 min (by the last rebuilds)',
    '  leaves each volume 2 healthy copies at the fewest',
    '  pg-data moves to node-2, 1 GiB',
  ]);
});

test('what blocks it is named with its cures', () => {
  const blocker = {
    volumeId: 'v1',
    volumeName: 'pg-data',
    replicaId: null,
    reason: 'EngineRunning' as const,
    message: 'volume pg-data is attached on node node-1',
    cures: ['detach volume pg-data'],
  };
  const volumes = [{ ...VOLUME, outcome: 'stays' as const, targetNodeIds: [], blockers: [blocker] }];
  const blocked: DrainPlan = {
    ...PLAN,
    isPossible: false,
    replicasToMove: 0,
    bytesToMove: 0,
    time: null,
    volumes,
  };
  expect(planText('node-1', blocked, NAMES).split('\n')).toEqual([
    'drain of node-1 with policy block-for-eviction: blocked by 1 volume',
    '  moves 0 replicas, 0 B; 0 stay',
    '  leaves each volume 2 healthy copies at the fewest',
    '  waiting: volume pg-data is attached on node node-1 (EngineRunning)',
    '    cure: detach volume pg-data',
  ]);
});
