import { describe, expect, test } from '@jest/globals';
import { completeFilter } from './complete-filter.js';

const GRAMMAR = {
  fields: { name: 'text', state: 'text', size: 'number', cordoned: 'boolean', labels: 'labels' },
  values: { state: ['attached', 'attaching', 'detached'] },
} as const;

/** Options at the end of a text, each as the text that it would make. */
function completed(text: string): string[] {
  const { from, options } = completeFilter(text, GRAMMAR);
  return options.map((option) => text.slice(0, from) + option);
}

describe('completion of a filter', () => {
  test.each<[string, string[]]>([
    ['', ['name', 'state', 'size', 'cordoned', 'labels.']],
    ['s', ['state', 'size']],
    ['state', ['state=', 'state!=', 'state in (']],
    ['size', ['size=', 'size!=', 'size>', 'size>=', 'size<', 'size<=']],
    ['state=', ['state=attached', 'state=attaching', 'state=detached']],
    ['state=att', ['state=attached', 'state=attaching']],
    ['state=detached', []],
    ['state in (attached, d', ['state in (attached, detached']],
    ['cordoned!=t', ['cordoned!=true']],
    ['name=pg-* ', ['name=pg-* AND', 'name=pg-* OR']],
    ['name=pg-* o', ['name=pg-* OR']],
    ['state in (attached) ', ['state in (attached) AND', 'state in (attached) OR']],
    ['name=pg-* AND (si', ['name=pg-* AND (size']],
    [
      'name="a b" and ',
      [
        'name="a b" and name',
        'name="a b" and state',
        'name="a b" and size',
        'name="a b" and cordoned',
        'name="a b" and labels.',
      ],
    ],
    ['pg-data', []],
  ])('offers what may follow %j', (text, want) => {
    expect(completed(text)).toEqual(want);
  });
});
