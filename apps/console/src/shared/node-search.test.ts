import { parseFilter } from '@holdfast/core/listing/filter.js';
import { describe, expect, test } from '@jest/globals';
import { nodeSearch, nodesIn } from './node-search';

describe('a search for nodes', () => {
  test.each<[text: string, filter: string]>([
    ['', ''],
    ['  ', ''],
    ['node-1', 'name=node-1* OR zone=node-1* OR tags=node-1*'],
    ['a" OR (', 'name=aOR* OR zone=aOR* OR tags=aOR*'],
    ['*', ''],
  ])('%j is a filter that the API reads', (text, filter) => {
    expect(nodeSearch(text)).toBe(filter);
    expect(() => parseFilter(nodeSearch(text), { name: 'text', zone: 'text', tags: 'texts' })).not.toThrow();
  });
});

test('the nodes of a zone are found by a filter, those without labels by empty ones', () => {
  expect(nodesIn({ zone: 'z-2', region: null })).toBe('zone="z-2" AND region=""');
});
