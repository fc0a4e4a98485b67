import { expect, test } from '@jest/globals';
import { decideCordon, decideUncordon } from './decide-cordon.js';

const OPEN = { name: 'n1', cordoned: false };
const CORDONED = { name: 'n1', cordoned: true };

test.each([
  { name: 'an open node is cordoned', decision: decideCordon(OPEN), want: { kind: 'allow' } },
  {
    name: 'cordoning again changes nothing',
    decision: decideCordon(CORDONED),
    want: { kind: 'unchanged', why: 'node n1 is cordoned already' },
  },
  { name: 'a cordoned node is uncordoned', decision: decideUncordon(CORDONED), want: { kind: 'allow' } },
  {
    name: 'uncordoning an open node changes nothing',
    decision: decideUncordon(OPEN),
    want: { kind: 'unchanged', why: 'node n1 is not cordoned' },
  },
])('$name', ({ decision, want }) => {
  expect(decision).toEqual(want);
});
