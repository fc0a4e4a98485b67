import { ATTACHED, FILLING, REPAIRING, someActionFacts } from '@holdfast/testkit/action-facts.js';
import { expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decideDeletion } from './decide-deletion.js';

const IN_USE = { code: 'volume.attached', why: 'volume pg-data is attached', cures: ['detach it first'] };

test.each<{ name: string; facts?: Partial<ActionFacts>; want: object }>([
  { name: 'A detached volume may be deleted.', want: { kind: 'allow' } },
  {
    name: 'A volume that is being made may be deleted.',
    facts: { state: 'creating' },
    want: { kind: 'allow' },
  },
  {
    name: 'Deleting again changes nothing.',
    facts: { ...ATTACHED, isDeleting: true, state: 'deleting' },
    want: { kind: 'unchanged', why: 'volume pg-data is being deleted' },
  },
  {
    name: 'A source stays until its clones are filled.',
    facts: { clonedSnapshotIds: ['s1'] },
    want: {
      code: 'volume.in_use',
      why: 'volume pg-data is being cloned',
      cures: ['wait until its clones are filled', 'delete the clones'],
    },
  },
  { name: 'An attached volume is detached first.', facts: ATTACHED, want: IN_USE },
  {
    name: 'A volume whose attachment is wanted is not deleted.',
    facts: { attachment: { nodeId: undefined } },
    want: IN_USE,
  },
  {
    name: 'A volume that is still held is not deleted.',
    facts: { state: 'detaching', attachedNodeId: 'n1' },
    want: IN_USE,
  },
  { name: 'A clone may be deleted while it is filled.', facts: FILLING, want: { kind: 'allow' } },
  { name: 'What only the worker holds may be deleted.', facts: REPAIRING, want: { kind: 'allow' } },
])('$name', ({ facts, want }) => {
  expect(decideDeletion(someActionFacts(facts))).toMatchObject(want);
});
