import { ATTACHED, FILLING, REPAIRING, someActionFacts } from '@holdfast/testkit/action-facts.js';
import { expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decideVerification, decideVerificationEnd } from './decide-verification.js';

test.each<{ name: string; facts?: Partial<ActionFacts>; want: object }>([
  { name: 'The copies of a detached volume may be compared.', want: { kind: 'allow' } },
  {
    name: 'A volume that is being deleted is not verified.',
    facts: { isDeleting: true },
    want: { code: 'volume.deleting' },
  },
  { name: 'A clone is not verified before it is filled.', facts: FILLING, want: { code: 'volume.busy' } },
  {
    name: 'A rebuild of a detached volume is waited for.',
    facts: REPAIRING,
    want: {
      code: 'volume.busy',
      why: 'missing copies of volume pg-data are being rebuilt',
      cures: ['wait until that has ended'],
    },
  },
  {
    name: 'Copies that users write to are not compared.',
    facts: ATTACHED,
    want: {
      code: 'volume.attached',
      why: 'volume pg-data is attached; its copies can be compared only while it is detached',
      cures: ['detach it first'],
    },
  },
  {
    name: 'Copies that an engine still holds are not compared.',
    facts: { state: 'detaching', attachedNodeId: 'n1' },
    want: { code: 'volume.attached' },
  },
  {
    name: 'Asking while a verification runs changes nothing.',
    facts: { isBeingVerified: true },
    want: { kind: 'unchanged', why: 'the copies of volume pg-data are being compared' },
  },
])('$name', ({ facts, want }) => {
  expect(decideVerification(someActionFacts(facts))).toMatchObject(want);
});

test('A comparison that runs may be ended, and where none runs that changes nothing.', () => {
  expect(decideVerificationEnd(someActionFacts({ isBeingVerified: true }))).toEqual({ kind: 'allow' });
  expect(decideVerificationEnd(someActionFacts({}))).toEqual({
    kind: 'unchanged',
    why: 'the copies of volume pg-data are not being compared',
  });
});
