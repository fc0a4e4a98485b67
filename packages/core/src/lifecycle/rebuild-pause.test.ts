import type { Rebuild } from '@holdfast/core/model/rebuild.js';
import { aRebuild, NOON, secondsAfterNoon } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { isPausingRebuilds } from './rebuild-pause.js';

/** A rebuild that ended so many seconds before noon. */
const ended = (secondsAgo: number, part: Partial<Rebuild>): Rebuild =>
  aRebuild({ finishedAt: secondsAfterNoon(-secondsAgo), ...part });
const failed = (secondsAgo: number, code = 'replica.corrupt') =>
  ended(secondsAgo, { state: 'failed', error: { code, message: '' } });

describe('isPausingRebuilds', () => {
  test.each([
    { name: 'none has ended', rebuilds: [aRebuild()], want: false },
    { name: 'the last one succeeded', rebuilds: [failed(9), ended(1, { state: 'succeeded' })], want: false },
    { name: 'one failed a moment ago', rebuilds: [failed(4)], want: true },
    { name: 'one failed 5 s ago', rebuilds: [failed(5)], want: false },
    { name: 'three failed in a row: 20 s', rebuilds: [failed(19), failed(40), failed(60)], want: true },
    { name: 'and no longer than that', rebuilds: [failed(20), failed(40), failed(60)], want: false },
    {
      name: 'however many: at most 3 min',
      rebuilds: Array.from({ length: 10 }, () => failed(180)),
      want: false,
    },
    { name: 'its engine went away', rebuilds: [failed(1, 'engine.not_found')], want: false },
    { name: 'a user cancelled it', rebuilds: [ended(299, { state: 'cancelled' })], want: true },
    {
      name: 'it was called off with its attachment',
      rebuilds: [ended(1, { state: 'cancelled', error: { code: 'engine.not_found', message: 'detached' } })],
      want: false,
    },
    { name: 'that was a while ago', rebuilds: [ended(300, { state: 'cancelled' })], want: false },
  ])('$name → $want', ({ rebuilds, want }) => {
    expect(isPausingRebuilds(rebuilds, NOON)).toBe(want);
  });
});
