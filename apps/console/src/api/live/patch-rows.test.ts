import { describe, expect, test } from '@jest/globals';
import type { Volume } from '../types';
import { patchPages } from './patch-rows';

/** `name` or `name:robustness`, with the name as the id. */
function volume(text: string): Volume {
  const [name = '', robustness = 'healthy'] = text.split(':');
  // The list reads no other field of these rows.
  return { id: name, name, robustness, size: name.length, attention: null } as Volume;
}

type Given = { pages: string[][]; more?: boolean; ids: string[]; rows: string[]; sort?: string };

/** Names of the pages after rows have changed; `more`: the last page is not the end of the list. */
function patched({ pages, more = false, ids, rows, sort = 'name' }: Given): string[][] {
  const shown = pages.map((names, at) => ({
    items: names.map(volume),
    nextCursor: at < pages.length - 1 || more ? 'next' : null,
  }));
  const changed = { ids: new Set(ids), rows: rows.map(volume) };
  return patchPages(shown, changed, sort).map(({ items }) => items.map(({ name }) => name));
}

describe('rows that have changed', () => {
  test.each<Given & { name: string; want: string[][] }>([
    {
      name: 'a new one in the middle',
      pages: [['a', 'c']],
      ids: ['b'],
      rows: ['b'],
      want: [['a', 'b', 'c']],
    },
    { name: 'a new one at the end', pages: [['a']], ids: ['b'], rows: ['b'], want: [['a', 'b']] },
    {
      name: 'a new one behind what is shown',
      pages: [['a']],
      more: true,
      ids: ['b'],
      rows: ['b'],
      want: [['a']],
    },
    { name: 'one that is gone', pages: [['a', 'b']], ids: ['b'], rows: [], want: [['a']] },
    {
      name: 'one of the second page',
      pages: [['a'], ['c', 'e']],
      ids: ['d'],
      rows: ['d'],
      want: [['a'], ['c', 'd', 'e']],
    },
    {
      name: 'one that became worse',
      pages: [['a', 'b', 'c']],
      ids: ['c'],
      rows: ['c:degraded'],
      sort: '-risk,name',
      want: [['c', 'a', 'b']],
    },
    {
      name: 'the larger one first',
      pages: [['ccc', 'a']],
      ids: ['bb'],
      rows: ['bb'],
      sort: '-size',
      want: [['ccc', 'bb', 'a']],
    },
  ])('are put where they belong: $name', ({ want, ...given }) => {
    expect(patched(given)).toEqual(want);
  });

  test('leave the pages that were there as they were', () => {
    const page = { items: [volume('a')], nextCursor: null };
    patchPages([page], { ids: new Set(['a']), rows: [] }, 'name');
    expect(page.items).toHaveLength(1);
  });
});
