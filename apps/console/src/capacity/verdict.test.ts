import { GIB } from '@holdfast/core/model/bytes.js';
import { expect, test } from '@jest/globals';
import { type Room, type RoomAfter, toneOf, verdictOf } from './verdict';

const KIND = { sizeBytes: 200 * GIB, numberOfReplicas: 3 };
const room = (count: number, isAtLeast = false): Room => ({ count, isAtLeast, limitedBy: null });
const after = (...counts: (number | undefined)[]): RoomAfter[] =>
  counts.map((count, index) => ({
    zone: `zone-${index}`,
    room: count === undefined ? undefined : room(count),
  }));

test.each<[string, Room, RoomAfter[], string, string]>([
  [
    'room now and later',
    room(12),
    after(7, 4, 9),
    '12 more of 200 GiB × 3 fit; 4 after losing zone-1.',
    'good',
  ],
  ['room now only', room(1), after(0, 0), '1 more of 200 GiB × 3 fits; none after losing any zone.', 'warn'],
  [
    'zones that cost the same',
    room(5),
    after(2, 0, 0),
    '5 more of 200 GiB × 3 fit; none after losing zone-1 or zone-2.',
    'warn',
  ],
  [
    'many zones that cost the same',
    room(5),
    after(2, 0, 0, 0),
    '5 more of 200 GiB × 3 fit; none after losing one of 3 zones.',
    'warn',
  ],
  ['no room', room(0), after(0, 0), 'no more of 200 GiB × 3 fits; none after losing any zone.', 'bad'],
  [
    'more than is counted',
    room(1000, true),
    after(3, 5),
    'at least 1,000 more of 200 GiB × 3 fit; 3 after losing zone-0.',
    'good',
  ],
  ['a zone that is not known yet', room(12), after(7, undefined), '12 more of 200 GiB × 3 fit.', 'good'],
  ['one zone, with which all is lost', room(12), after(0), '12 more of 200 GiB × 3 fit.', 'good'],
])('the verdict on %s', (_what, now, later, sentence, tone) => {
  expect(verdictOf(KIND, now, later)).toBe(sentence);
  expect(toneOf(now, later)).toBe(tone);
});
