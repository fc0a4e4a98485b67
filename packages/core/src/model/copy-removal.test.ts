import { describe, expect, test } from '@jest/globals';
import type { ReplicaState } from './agent-protocol.js';
import { copyRecord } from './copy-record.js';
import { type RemovalReason, removalObstacle } from './copy-removal.js';
import { asId, type ReplicaId } from './ids.js';

const [A, B] = ['a', 'b'].map((letter) =>
  asId<ReplicaId>(`${letter}0000000-0000-4000-8000-000000000000`),
) as [ReplicaId, ReplicaId];
const present = (record: ReturnType<typeof copyRecord> | null): ReplicaState => ({
  state: 'present',
  record,
});
const superseded = (...record: Parameters<typeof copyRecord>): RemovalReason => ({
  kind: 'superseded',
  record: copyRecord(...record),
});
const ALONE = present(copyRecord(3, 5, [A]));

describe('a copy whose record is as expected', () => {
  test.each<{ name: string; found: ReplicaState; because?: RemovalReason; want: string | undefined }>([
    { name: 'is the only member, and no reason is given', found: ALONE, want: 'replica.only_current' },
    {
      name: 'is the only member, and others hold the data under a newer record',
      found: ALONE,
      because: superseded(3, 6, [B]),
      want: undefined,
    },
    {
      name: 'is the only member, and others are said to hold the data under an older record',
      found: ALONE,
      because: superseded(3, 4, [B]),
      want: 'replica.only_current',
    },
    {
      name: 'is the only member, and others are said to hold the data under the same record',
      found: ALONE,
      because: superseded(3, 5, [B]),
      want: 'replica.only_current',
    },
    {
      name: 'is the only member, and the newer record names it too',
      found: ALONE,
      because: superseded(4, 0, [A, B]),
      want: 'replica.only_current',
    },
    {
      name: 'is the only member, and the newer record names nothing',
      found: ALONE,
      because: superseded(4, 0, []),
      want: 'replica.only_current',
    },
    {
      name: 'is the only member, and was given up',
      found: ALONE,
      because: { kind: 'given-up' },
      want: undefined,
    },
    { name: 'names others too', found: present(copyRecord(3, 5, [A, B])), want: undefined },
    { name: 'names only another', found: present(copyRecord(3, 5, [B])), want: undefined },
    { name: 'never was a member', found: present(null), want: undefined },
    { name: 'can not be read', found: { state: 'unreadable' }, want: undefined },
  ])('$name', ({ found, because, want }) => {
    expect(removalObstacle(A, found, { expected: found, because })).toBe(want);
  });
});

test('a reason does not stand for the expectation: a late command finds a newer copy, and it stays', () => {
  const claim = { expected: ALONE, because: { kind: 'given-up' } } as const;
  expect(removalObstacle(A, present(copyRecord(3, 6, [A])), claim)).toBe('agent.refused');
});

test('a command that comes again has nothing left to do', () => {
  expect(removalObstacle(A, { state: 'absent' }, { expected: ALONE })).toBeUndefined();
});

test('without an expectation only a copy goes that never was a member, or can not be read', () => {
  const because = { kind: 'given-up' } as const;
  expect(removalObstacle(A, ALONE, { because })).toBe('agent.refused');
  expect(removalObstacle(A, present(null), {})).toBeUndefined();
  expect(removalObstacle(A, { state: 'unreadable' }, {})).toBeUndefined();
});
