import { describe, expect, test } from '@jest/globals';
import type { Rebuild } from '../types';
import { patchRebuilds } from './patch-rebuilds';

type Shown = Partial<Pick<Rebuild, 'state' | 'queuePosition' | 'percent'>>;

function rebuild(id: string, shown: Shown = {}): Rebuild {
  const { state = 'running', queuePosition = null, percent = 0 } = shown;
  // The list reads no other field of these rows. Each is of a volume of its own.
  return { id, volumeId: `volume-${id}`, state, queuePosition, percent } as Rebuild;
}

const running = rebuild('a');
const first = rebuild('b', { state: 'queued', queuePosition: 1 });
const second = rebuild('c', { state: 'queued', queuePosition: 2 });

function patched(rows: readonly Rebuild[], { of = ['a', 'b', 'c'], hasMore = false } = {}) {
  const pages = [
    { items: [running, first], nextCursor: 'next' },
    { items: [second], nextCursor: hasMore ? 'next' : null },
  ];
  const volumeIds = new Set(of.map((id) => `volume-${id}`));
  return patchRebuilds(pages, { volumeIds, rows })?.map(({ items }) =>
    items.map(({ id, percent }) => `${id} ${percent}`),
  );
}

describe('rebuilds that have gone on', () => {
  test('are shown as they are now, where they stood', () => {
    expect(patched([rebuild('a', { percent: 50 })], { of: ['a'] })).toEqual([['a 50', 'b 0'], ['c 0']]);
  });

  test.each<{ name: string; rows: Rebuild[]; of: string[] }>([
    { name: 'has ended', rows: [], of: ['a'] },
    { name: 'has begun', rows: [{ ...first, state: 'running', queuePosition: null }], of: ['b'] },
    { name: 'has another place in the queue', rows: [{ ...second, queuePosition: 1 }], of: ['c'] },
    { name: 'is new', rows: [rebuild('d')], of: ['d'] },
  ])('have the list asked for again where one $name', ({ rows, of }) => {
    expect(patched(rows, { of })).toBeUndefined();
  });

  test('leave a list with further pages as it is where they may lie behind those that are shown', () => {
    const rows = [rebuild('d', { state: 'queued', queuePosition: 300 })];
    expect(patched(rows, { of: ['d'], hasMore: true })).toEqual([['a 0', 'b 0'], ['c 0']]);
  });
});
