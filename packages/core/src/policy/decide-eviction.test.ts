import { expect, test } from '@jest/globals';
import { decideEviction } from './decide-eviction.js';

const ALLOW = { kind: 'allow' };

test.each([
  {
    name: 'A node that takes new replicas is fine.',
    wanted: { evictionRequested: false, allowScheduling: true },
    want: ALLOW,
  },
  {
    name: 'A node that takes none may be emptied.',
    wanted: { evictionRequested: true, allowScheduling: false },
    want: ALLOW,
  },
  {
    name: 'A node may take none without being emptied.',
    wanted: { evictionRequested: false, allowScheduling: false },
    want: ALLOW,
  },
  {
    name: 'A node is not emptied while new replicas may come.',
    wanted: { evictionRequested: true, allowScheduling: true },
    want: {
      code: 'request.invalid',
      why: 'evictionRequested on node-1 needs allowScheduling to be false, else new replicas would come while the old ones leave',
      cures: ['set allowScheduling to false in the same request'],
    },
  },
])('$name', ({ wanted, want }) => {
  expect(decideEviction('node-1', wanted)).toMatchObject(want);
});
