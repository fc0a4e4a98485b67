import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../types.js';
import { notedLines, unplacedLines, waitingLines } from './volume-text.js';

function aVolume(status: 'True' | 'False', message: string, type = 'Scheduled'): Volume {
  const condition = {
    type,
    status,
    reason: '',
    message,
    lastTransitionAt: '2026-01-01T00:00:00Z',
  };
  // The cast: the text uses nothing else of a volume.
  return { name: 'big', conditions: [condition] } as Volume;
}

describe('why a copy has no place', () => {
  test('is one sentence and where to read on, without the list of disks', () => {
    const volume = aVolume('False', '0 of 3 replicas have a place: no disk has room.\nnode-1/disk-1: full');
    expect(unplacedLines(volume)).toEqual([
      '0 of 3 replicas have a place: no disk has room.',
      '  holdfast volume explain big says more',
    ]);
  });

  test('is cut where there is no sentence yet', () => {
    const [line] = unplacedLines(aVolume('False', 'x'.repeat(3_000)));
    expect(line?.length).toBeLessThan(700);
  });

  test('is nothing when all have one', () => {
    expect(unplacedLines(aVolume('True', 'degraded'))).toEqual([]);
  });
});

describe('what users should see although nothing is broken', () => {
  test.each([
    { type: 'TooManySnapshots', status: 'True', want: ['note'] },
    { type: 'OfflineRebuilding', status: 'True', want: ['note'] },
    { type: 'OfflineRebuilding', status: 'False', want: [] },
    { type: 'RebuildWaiting', status: 'True', want: ['note'] },
    { type: 'Scheduled', status: 'True', want: [] },
  ] as const)(
    'the message of the condition $type is shown while it is $status: $want',
    ({ type, status, want }) => {
      expect(notedLines(aVolume(status, 'note', type))).toEqual(want);
    },
  );
});

test('a hold is a reason of two conditions, and said once', () => {
  const held = [aVolume('True', 'held', 'RebuildsHeld'), aVolume('True', 'held', 'RebuildWaiting')];
  expect(notedLines({ conditions: held.flatMap(({ conditions }) => conditions) })).toEqual(['held']);
});

test('missing copies that are not in the queue are listed with their volume and the reason', () => {
  const seen = [aVolume('True', 'it waits', 'RebuildWaiting'), aVolume('False', '', 'RebuildWaiting')];
  expect(waitingLines(seen)).toEqual(['big: it waits']);
});
