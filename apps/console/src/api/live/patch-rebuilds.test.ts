import { describe, expect, test } from '@jest/globals';
import type { Rebuild } from '../types';
import { REBUILDS_SHOWN_MAX, withRebuilds } from './patch-rebuilds';

function rebuild(id: string, second: number, percent = 0): Rebuild {
  // The list reads no other field of these rows.
  return { id, percent, queuedAt: new Date(second * 1_000).toISOString() } as Rebuild;
}

const told = (rebuilds: readonly Rebuild[]) => rebuilds.map(({ id, percent }) => `${id} ${percent}`);

describe('rebuilds that have changed', () => {
  const shown = [rebuild('c', 3), rebuild('b', 2), rebuild('a', 1)];

  test('are told as they are now, where they stood', () => {
    expect(told(withRebuilds(shown, [rebuild('b', 2, 50)]))).toEqual(['c 0', 'b 50', 'a 0']);
  });

  test('are put on top where they are new', () => {
    expect(told(withRebuilds(shown, [rebuild('d', 4)]))).toEqual(['d 0', 'c 0', 'b 0', 'a 0']);
  });

  test('push out the oldest beyond what the list shows', () => {
    const many = Array.from({ length: REBUILDS_SHOWN_MAX }, (_, n) => rebuild(`r${n}`, 1_000 - n));
    const next = withRebuilds(many, [rebuild('new', 2_000)]);
    expect(next).toHaveLength(REBUILDS_SHOWN_MAX);
    expect(next[0]?.id).toBe('new');
  });
});
