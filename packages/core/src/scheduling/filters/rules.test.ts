import { expect, test } from '@jest/globals';
import { descriptionOfRule, PLACEMENT_RULES, wordsOf } from './rules.js';

const FILTERS = [
  ...PLACEMENT_RULES.nodeFilters,
  ...PLACEMENT_RULES.nodeTagFilters,
  ...PLACEMENT_RULES.diskFilters,
];

test('every filter has a name of its own, because explanations and the console tell filters apart by it', () => {
  const names = FILTERS.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)]);
});

test('two filters that share a reason use the same words for it', () => {
  for (const { reasons } of FILTERS) {
    for (const [reason, words] of Object.entries(reasons)) expect(wordsOf(reason)).toBe(words);
  }
});

test('a filter is described by the condition it asks for, and an unknown one by its name', () => {
  expect(descriptionOfRule('disk-tags')).toBe('Disk has the wanted tags');
  expect(descriptionOfRule('of-another-version')).toBe('of-another-version');
});
