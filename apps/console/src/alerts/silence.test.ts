import { parseFilter } from '@holdfast/core/listing/filter.js';
import { expect, test } from '@jest/globals';
import { matcherOf } from './silence';

test('a silence of an alert is a filter of its rule and its place', () => {
  const text = matcherOf({ rule: 'NodeSilent', subject: { kind: 'node', id: 'a b', name: 'node-2' } });
  expect(parseFilter(text, { rule: 'text', subjectId: 'text' })).toMatchObject({
    kind: 'and',
    parts: [
      { field: 'rule', operator: '=', values: ['NodeSilent'] },
      { field: 'subjectId', operator: '=', values: ['a b'] },
    ],
  });
});
