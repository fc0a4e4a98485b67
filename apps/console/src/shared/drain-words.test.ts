import { describe, expect, test } from '@jest/globals';
import type { DrainPlan, NodeDrain } from '../api/types';
import { drainSentence, planSentences } from './drain-words';

const PLAN: DrainPlan = {
  policy: 'block-for-eviction',
  isPossible: true,
  replicasToMove: 2,
  replicasToStay: 1,
  bytesToMove: 2048,
  time: { lowSeconds: 60, p50Seconds: 90, p90Seconds: 9_000, basis: 'measured' },
  copiesAtLowest: 2,
  volumeCount: 3,
  volumes: [],
};

describe('planSentences', () => {
  test.each<{ name: string; part: Partial<DrainPlan>; want: string[] }>([
    {
      name: 'What moves, how long it takes and what is left.',
      part: {},
      want: [
        '2 copies with 2 KiB are moved.',
        '1 copy stays on it.',
        'That takes 60 s to 2.5 h, as fast as the last rebuilds were.',
        'Each volume keeps at least 2 healthy copies all the while.',
      ],
    },
    {
      name: 'A volume that can not be used meanwhile is said.',
      part: { replicasToMove: 0, replicasToStay: 0, time: null, copiesAtLowest: 0 },
      want: ['No copy is moved.', 'Some volume has no healthy copy that answers while the node is off.'],
    },
    {
      name: 'An empty node needs one sentence.',
      part: { replicasToMove: 0, replicasToStay: 0, time: null, copiesAtLowest: null },
      want: ['No copy is moved.'],
    },
  ])('$name', ({ part, want }) => {
    expect(planSentences({ ...PLAN, ...part })).toEqual(want);
  });
});

test('a drain says where it stands', () => {
  const at = (state: NodeDrain['state'], waitingCount: number) =>
    drainSentence({
      policy: 'always-allow',
      requestedAt: '2026-01-01T12:00:00Z',
      since: '2026-01-01T12:00:00Z',
      state,
      progress: { replicasToMove: 0, replicasMoved: 0, bytesToMove: 0, bytesMoved: 0 },
      waitingCount,
      waitingFor: [],
    });
  expect([at('draining', 3), at('blocked', 1), at('drained', 0)]).toEqual([
    'Being drained.',
    'The drain waits for 1 thing.',
    'Drained: it may be switched off.',
  ]);
});
