import { describe, expect, test } from '@jest/globals';
import type { ClusterEvent } from '../types';
import { withEvent } from './patch-events';

function event(number: number, part: Partial<ClusterEvent> = {}): ClusterEvent {
  return {
    id: `9-${number}`,
    clusterId: 'cluster',
    type: 'VolumeDegraded',
    severity: 'warning',
    subject: { kind: 'volume', id: 'v' },
    volumeId: 'v',
    message: '',
    at: '2026-01-01T00:00:00.000Z',
    causeId: null,
    effects: 0,
    ...part,
  };
}

/** Ids of the list that has one event, after another one came. */
function after(coming: ClusterEvent, filter: string): string[] | undefined {
  return withEvent([event(1, { type: 'NodeNotReady' })], coming, filter)?.map(({ id }) => id);
}

describe('an event of the stream', () => {
  test.each<{ name: string; coming: ClusterEvent; filter: string; want: string[] | undefined }>([
    { name: 'comes on top', coming: event(2), filter: '', want: ['9-2', '9-1'] },
    {
      name: 'is not on top where it follows from one',
      coming: event(2, { causeId: '9-1' }),
      filter: 'causeId=0',
      want: ['9-1'],
    },
    {
      name: 'is shown for its filter',
      coming: event(2, { severity: 'error' }),
      filter: 'severity=error',
      want: ['9-2', '9-1'],
    },
    { name: 'is left out by its filter', coming: event(2), filter: 'severity=error', want: ['9-1'] },
    { name: 'is not shown twice', coming: event(1), filter: '', want: ['9-1'] },
    {
      name: 'is left to the API',
      coming: event(2),
      filter: 'nodeId!=3d1ab4b6-7f3c-4f0e-8f7d-0d4dbb3ad111',
      want: undefined,
    },
  ])('$name', ({ coming, filter, want }) => {
    expect(after(coming, filter)).toEqual(want);
  });
});
