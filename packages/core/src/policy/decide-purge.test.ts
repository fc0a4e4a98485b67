import { ATTACHED, FILLING, someActionFacts } from '@holdfast/testkit/action-facts.js';
import { expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decidePurge } from './decide-purge.js';

test.each<{ name: string; facts?: Partial<ActionFacts>; isSwitchedOff?: boolean; want: object }>([
  { name: 'An attached volume may be purged.', want: { kind: 'allow' } },
  {
    name: 'A volume that is being deleted is not purged.',
    facts: { isDeleting: true },
    want: { code: 'volume.deleting' },
  },
  { name: 'A clone is not purged before it is filled.', facts: FILLING, want: { code: 'volume.busy' } },
  {
    name: 'A detached volume has no engine to purge it.',
    facts: { state: 'detached' },
    want: { code: 'volume.not_attached' },
  },
  {
    name: 'Asking again changes nothing, also where purging is switched off.',
    facts: { task: { kind: 'purge', snapshotId: undefined } },
    isSwitchedOff: true,
    want: { kind: 'unchanged', why: 'a purge of volume pg-data is asked for already' },
  },
  {
    name: "The cluster's setting switches purging off.",
    isSwitchedOff: true,
    want: {
      code: 'volume.busy',
      why: 'purging is switched off in this cluster',
      cures: ['set disable-snapshot-purge to false'],
    },
  },
  {
    name: 'An expansion is waited for.',
    facts: { task: { kind: 'expand', snapshotId: undefined } },
    want: { code: 'volume.busy', why: 'volume pg-data is busy: its expand has not ended' },
  },
])('$name', ({ facts, isSwitchedOff = false, want }) => {
  expect(decidePurge(someActionFacts({ ...ATTACHED, ...facts }), isSwitchedOff)).toMatchObject(want);
});
