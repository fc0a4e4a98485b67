import { ATTACHED, FILLING, REPAIRING, someActionFacts } from '@holdfast/testkit/action-facts.js';
import { describe, expect, test } from '@jest/globals';
import type { ActionFacts } from './action-facts.js';
import {
  decideClone,
  decideHash,
  decideRevert,
  decideSnapshot,
  decideSnapshotDeletion,
  type SnapshotFacts,
  type SnapshotRoom,
} from './decide-snapshot.js';

type Row = {
  name: string;
  facts?: Partial<ActionFacts>;
  snapshot?: Partial<SnapshotFacts>;
  isBeingHashed?: boolean;
  want: object;
};

const READY: SnapshotFacts = { id: 's1', name: 'base', state: 'ready' };
const REVERTING = { task: { kind: 'revert', snapshotId: 's1' } } as const;
const EXPANDING = { task: { kind: 'expand', snapshotId: undefined } } as const;
const PURGING = { task: { kind: 'purge', snapshotId: undefined } } as const;
const ALLOW = { kind: 'allow' };

const attached = (part: Partial<ActionFacts> = {}) => someActionFacts({ ...ATTACHED, ...part });

/** Rules of every action that an engine does on all copies at once. */
const NEEDS_AN_ENGINE: Row[] = [
  {
    name: 'Nothing is done with snapshots of a volume that is being deleted.',
    facts: { isDeleting: true },
    want: { code: 'volume.deleting' },
  },
  {
    name: 'Nothing is done with snapshots of a clone that is being filled.',
    facts: FILLING,
    want: { code: 'volume.busy' },
  },
  {
    name: 'A detached volume is attached first.',
    facts: { state: 'detached' },
    want: {
      code: 'volume.not_attached',
      why: "volume pg-data is detached; only an attached volume's snapshots can be changed",
      cures: ['attach it first'],
    },
  },
  {
    name: 'A volume that only the worker has attached counts as detached.',
    facts: REPAIRING,
    want: { code: 'volume.not_attached', why: expect.stringContaining('is detached;') },
  },
];

describe('decideSnapshot', () => {
  const room = (count: number, part: Partial<SnapshotRoom['snapshots'][number]> = {}): SnapshotRoom => ({
    snapshots: Array.from({ length: count }, (_, index) => ({
      name: `s${index}`,
      origin: 'user',
      state: 'ready',
      ...part,
    })),
    max: 2,
  });

  test.each<Row & { room?: SnapshotRoom; called?: string }>([
    ...NEEDS_AN_ENGINE,
    { name: 'A snapshot may be taken of an attached volume.', want: ALLOW },
    {
      name: 'A snapshot may be asked for while the volume goes back to another.',
      facts: REVERTING,
      want: ALLOW,
    },
    {
      name: 'The name of a snapshot that is there is taken.',
      room: room(1),
      called: 's0',
      want: { code: 'snapshot.name_taken', why: 'volume pg-data has a snapshot named s0' },
    },
    {
      name: 'The name of a deleted snapshot is free.',
      room: room(1, { state: 'removing' }),
      called: 's0',
      want: ALLOW,
    },
    {
      name: 'A volume has as many snapshots as its setting says.',
      room: room(2),
      want: {
        code: 'snapshot.limit_reached',
        why: 'volume pg-data has 2 snapshots, and may have 2',
        cures: ['delete snapshots that are not needed, and purge'],
      },
    },
    {
      name: 'Deleted snapshots count until they are purged.',
      room: room(2, { state: 'removed' }),
      want: { code: 'snapshot.limit_reached' },
    },
    { name: 'Failed snapshots do not count.', room: room(2, { state: 'failed' }), want: ALLOW },
    { name: 'Snapshots of rebuilds do not count.', room: room(2, { origin: 'system' }), want: ALLOW },
  ])('$name', ({ facts, room: given = room(0), called, want }) => {
    expect(decideSnapshot(attached(facts), given, called)).toMatchObject(want);
  });
});

describe('decideSnapshotDeletion', () => {
  test.each<Row>([
    ...NEEDS_AN_ENGINE,
    { name: 'A snapshot may be deleted.', want: ALLOW },
    {
      name: 'A failed snapshot may be deleted without an engine.',
      facts: { state: 'detached' },
      snapshot: { state: 'failed' },
      want: ALLOW,
    },
    {
      name: 'Deleting again changes nothing, attached or not.',
      facts: { state: 'detached' },
      snapshot: { state: 'removing' },
      want: { kind: 'unchanged', why: 'snapshot base is deleted already' },
    },
    {
      name: 'A deleted snapshot that waits for its purge is deleted already.',
      snapshot: { state: 'removed' },
      want: { kind: 'unchanged' },
    },
    {
      name: 'A snapshot stays while it is being taken.',
      snapshot: { state: 'creating' },
      want: { code: 'snapshot.in_use', why: 'snapshot base is being taken' },
    },
    {
      name: 'A snapshot stays while a clone is filled from it.',
      facts: { clonedSnapshotIds: ['s1'] },
      want: { code: 'snapshot.in_use', why: 'a volume is being cloned from snapshot base' },
    },
    {
      name: 'Clones of another snapshot are no obstacle.',
      facts: { clonedSnapshotIds: ['s2'] },
      want: ALLOW,
    },
    {
      name: 'A snapshot stays while the volume goes back to it.',
      facts: REVERTING,
      want: { code: 'snapshot.in_use', why: 'the volume is being reverted to snapshot base' },
    },
  ])('$name', ({ facts, snapshot, want }) => {
    expect(decideSnapshotDeletion(attached(facts), { ...READY, ...snapshot })).toMatchObject(want);
  });
});

describe('decideHash', () => {
  test.each<Row>([
    ...NEEDS_AN_ENGINE,
    { name: 'A snapshot may be hashed.', want: ALLOW },
    {
      name: 'Only a snapshot that is there can be hashed.',
      snapshot: { state: 'removed' },
      want: { code: 'snapshot.in_use', why: 'snapshot base is removed' },
    },
    {
      name: 'Asking while it is hashed changes nothing.',
      isBeingHashed: true,
      want: { kind: 'unchanged', why: 'snapshot base is being hashed' },
    },
  ])('$name', ({ facts, snapshot, isBeingHashed = false, want }) => {
    expect(decideHash(attached(facts), { ...READY, ...snapshot, isBeingHashed })).toMatchObject(want);
  });
});

describe('decideClone', () => {
  test.each<Row>([
    { name: 'A snapshot of a detached volume may be cloned.', facts: { state: 'detached' }, want: ALLOW },
    {
      name: 'A volume that is being deleted is not cloned.',
      facts: { isDeleting: true },
      want: { code: 'volume.deleting' },
    },
    {
      name: 'Only a snapshot that is there can be cloned.',
      snapshot: { state: 'creating' },
      want: { code: 'snapshot.in_use', why: 'snapshot base is creating' },
    },
  ])('$name', ({ facts, snapshot, want }) => {
    expect(decideClone(attached(facts), { ...READY, ...snapshot })).toMatchObject(want);
  });
});

describe('decideRevert', () => {
  test.each<Row>([
    ...NEEDS_AN_ENGINE,
    { name: 'A volume may go back to a snapshot.', want: ALLOW },
    {
      name: 'Only a snapshot that is there can be gone back to.',
      snapshot: { state: 'removing' },
      want: { code: 'snapshot.in_use', why: 'snapshot base is removing' },
    },
    {
      name: 'Asking for the same revert changes nothing.',
      facts: REVERTING,
      want: { kind: 'unchanged', why: 'volume pg-data is being reverted to snapshot base' },
    },
    {
      name: 'A revert to another snapshot is waited for.',
      facts: REVERTING,
      snapshot: { id: 's2' },
      want: {
        code: 'volume.busy',
        why: 'volume pg-data is busy: its revert has not ended',
        cures: ['wait until it has ended'],
      },
    },
    { name: 'An expansion is waited for.', facts: EXPANDING, want: { code: 'volume.busy' } },
    { name: 'A purge gives way to a revert.', facts: PURGING, want: ALLOW },
  ])('$name', ({ facts, snapshot, want }) => {
    expect(decideRevert(attached(facts), { ...READY, ...snapshot })).toMatchObject(want);
  });
});
