import { expect, test } from '@jest/globals';
import { readIds } from './read-ids';

test.each([
  [
    '{"volume":["a","b"],"event":["1-1"]}',
    [
      { kind: 'volume', ids: ['a', 'b'] },
      { kind: 'event', ids: ['1-1'] },
    ],
  ],
  ['{"volume":null}', [{ kind: 'volume', ids: null }]],
  ['{"volume":7,"node":["n",7]}', [{ kind: 'node', ids: ['n'] }]],
  ['null', []],
])('the message %s is read as %j', (data, want) => {
  expect(readIds(data)).toEqual(want);
});
