import { expect, test } from '@jest/globals';
import { asId, type DiskId } from '../model/ids.js';
import { decideDiskAcceptance } from './decide-disk-change.js';

const ready = (status: 'True' | 'False', reason = '') => [
  { type: 'Ready' as const, status, reason, message: '', lastTransitionAt: new Date(0) },
];
const copy = {
  name: 'disk-1',
  conditions: ready('False', 'DuplicateDisk'),
  duplicateOf: asId<DiskId>('00000000-0000-4000-8000-000000000001'),
};
const known = { name: 'disk-1', conditions: ready('True') };
const from = { name: 'node-1', conditions: ready('True') };
const own = { name: 'disk-1', conditions: ready('True'), duplicateOf: undefined };
const setBack = { ...own, conditions: ready('False', 'DiskSetBack') };

test.each([
  { name: 'a copy beside the disk is refused', facts: { disk: copy, known, from }, want: 'refuse' },
  {
    name: 'a copy of a disk whose node is gone may be taken',
    facts: { disk: copy, known, from: { ...from, conditions: ready('False') } },
    want: 'allow',
  },
  {
    name: 'a copy of a disk that is gone may be taken',
    facts: { disk: copy, known: { ...known, conditions: ready('False') }, from },
    want: 'allow',
  },
  { name: 'an earlier state may be taken', facts: { disk: setBack, known: setBack, from }, want: 'allow' },
  { name: 'the disk itself is taken already', facts: { disk: own, known: own, from }, want: 'unchanged' },
])('$name', ({ facts, want }) => {
  expect(decideDiskAcceptance(facts).kind).toBe(want);
});
