import { expect, test } from '@jest/globals';
import type { ClusterEvent } from '../api/types';
import { foldEvents } from './fold-events';

/** Each as `<type>` or `<type>+<effects>`, newest first. */
function events(...texts: string[]): ClusterEvent[] {
  return texts.map((text, index) => {
    const [type = '', effects = '0'] = text.split('+');
    return {
      id: String(index),
      clusterId: 'c',
      type,
      severity: 'info',
      subject: { kind: 'volume', id: 'v' },
      volumeId: null,
      message: text,
      at: '2026-01-01T00:00:00.000Z',
      causeId: null,
      effects: Number(effects),
    };
  });
}

/** Each line as `<message> <number of those under it>`. */
function folded(...texts: string[]): string[] {
  return foldEvents(events(...texts)).map(({ event, alike }) => `${event.message} ${alike.length}`);
}

test('events of one type in a row are folded under the newest', () => {
  expect(folded('A', 'A', 'A', 'A', 'B')).toEqual(['A 3', 'B 0']);
});

test('a few of one type are listed one by one', () => {
  expect(folded('A', 'A', 'A', 'B')).toEqual(['A 0', 'A 0', 'A 0', 'B 0']);
});

test('an event that others follow from stands for itself', () => {
  expect(folded('N+2', 'N', 'N', 'N', 'N')).toEqual(['N+2 0', 'N 3']);
});
