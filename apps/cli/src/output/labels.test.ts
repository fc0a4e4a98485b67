import { expect, test } from '@jest/globals';
import { labelsText, parseLabels, parseNewLabels } from './labels.js';

test('labels are set by key=value and taken off by key-', () => {
  expect(parseLabels(['team=a', 'example.com/tier=', 'old-', 'eq=a=b'])).toEqual({
    team: 'a',
    'example.com/tier': '',
    old: null,
    eq: 'a=b',
  });
});

test.each(['team', '=a', '-', ''])('%j is no label', (text) => {
  expect(() => parseLabels([text])).toThrow('is no label');
});

test('a new object has no label to take off', () => {
  expect(parseNewLabels(['team=a'])).toEqual({ team: 'a' });
  expect(() => parseNewLabels(['team-'])).toThrow('no label to take off');
});

test('labels are shown as they are written, or as a dash', () => {
  expect(labelsText({ team: 'a', tier: '' })).toBe('team=a tier=');
  expect(labelsText({})).toBe('-');
});
