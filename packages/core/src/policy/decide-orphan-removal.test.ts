import { expect, test } from '@jest/globals';
import { decideOrphanRemoval, type OrphanFacts } from './decide-orphan-removal.js';

const REACHABLE: OrphanFacts = {
  isRemovalRequested: false,
  isReachable: true,
  nodeName: 'node-1',
  diskName: 'disk-1',
};

test.each<{ name: string; facts: Partial<OrphanFacts>; want: object }>([
  { name: 'A copy within reach may be removed.', facts: {}, want: { kind: 'allow' } },
  {
    name: 'Asking again changes nothing, within reach or not.',
    facts: { isRemovalRequested: true, isReachable: false },
    want: { kind: 'unchanged', why: 'the copy is being removed' },
  },
  {
    name: 'A copy whose node or disk does not answer is not removed.',
    facts: { isReachable: false },
    want: {
      code: 'disk.not_ready',
      why: 'disk disk-1 on node node-1 is not ready',
      cures: ['start the agent on node-1', 'put the disk back'],
    },
  },
])('$name', ({ facts, want }) => {
  expect(decideOrphanRemoval({ ...REACHABLE, ...facts })).toMatchObject(want);
});
