import { expect, test } from '@jest/globals';
import { labelOf } from './label-change';

test.each([
  ['team=storage', { team: 'storage' }],
  [' team= ', { team: '' }],
  ['url=a=b', { url: 'a=b' }],
  ['-team', { team: null }],
  ['team', undefined],
  ['=storage', undefined],
  ['-', undefined],
])('a label typed as %j is the change %j', (text, change) => {
  expect(labelOf(text)).toEqual(change);
});
