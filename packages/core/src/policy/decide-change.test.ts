import { ATTACHED, FILLING, someActionFacts } from '@holdfast/testkit/action-facts.js';
import { describe, expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import { decideChange, decideGrowth } from './decide-change.js';

type Row = { name: string; facts: Partial<ActionFacts>; want: object };

describe('decideChange', () => {
  test.each<Row>([
    { name: 'A volume may be changed, detached too.', facts: { state: 'detached' }, want: { kind: 'allow' } },
    { name: 'A clone may be changed while it is filled.', facts: FILLING, want: { kind: 'allow' } },
    {
      name: 'A volume that is being deleted is not changed.',
      facts: { isDeleting: true },
      want: { code: 'volume.deleting', why: 'volume pg-data is being deleted' },
    },
  ])('$name', ({ facts, want }) => {
    expect(decideChange(someActionFacts(facts))).toMatchObject(want);
  });
});

describe('decideGrowth', () => {
  test.each<Row>([
    { name: 'An attached volume may grow.', facts: {}, want: { kind: 'allow' } },
    {
      name: 'A volume that is being deleted does not grow.',
      facts: { isDeleting: true },
      want: { code: 'volume.deleting' },
    },
    { name: 'A clone does not grow before it is filled.', facts: FILLING, want: { code: 'volume.busy' } },
    {
      name: 'A detached volume may grow: the worker attaches it.',
      facts: { state: 'detached' },
      want: { kind: 'allow' },
    },
    {
      name: 'A volume that attaches does not grow before it is attached.',
      facts: { state: 'attaching' },
      want: { code: 'volume.not_attached', cures: ['wait until it is attached or detached'] },
    },
    {
      name: 'A revert is waited for.',
      facts: { task: { kind: 'revert', snapshotId: 's1' } },
      want: { code: 'volume.busy', why: 'volume pg-data is busy: its revert has not ended' },
    },
    {
      name: 'A purge gives way to an expansion.',
      facts: { task: { kind: 'purge', snapshotId: undefined } },
      want: { kind: 'allow' },
    },
  ])('$name', ({ facts, want }) => {
    expect(decideGrowth(someActionFacts({ ...ATTACHED, ...facts }))).toMatchObject(want);
  });
});
