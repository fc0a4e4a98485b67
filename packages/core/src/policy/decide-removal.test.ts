import { asId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { aReplica, NOON } from '@holdfast/testkit/builders.js';
import { describe, expect, test } from '@jest/globals';
import { decideRemoval } from './decide-removal.js';

const A = asId<ReplicaId>('a');

/** The replica that is asked about is healthy; each case says what the other one is. */
const ask = (other: Partial<Replica> | undefined) => {
  const copy = (id: string, part: Partial<Replica>) =>
    aReplica({ volumeId: asId<VolumeId>('v'), id: asId<ReplicaId>(id), healthyAt: NOON, ...part });
  const decision = decideRemoval([copy('a', {}), ...(other === undefined ? [] : [copy('b', other)])], A);
  return decision.kind === 'refuse' ? decision.code : decision.kind;
};

describe('decideRemoval', () => {
  test.each([
    { name: 'healthy', other: {}, want: 'allow' },
    { name: 'failed', other: { failedAt: NOON }, want: 'replica.last_healthy_copy' },
    { name: 'not yet full', other: { healthyAt: undefined }, want: 'replica.last_healthy_copy' },
    { name: 'to be removed itself', other: { intent: 'remove' as const }, want: 'replica.last_healthy_copy' },
    { name: 'to be replaced', other: { intent: 'evict' as const }, want: 'allow' },
    { name: 'missing', other: undefined, want: 'replica.last_healthy_copy' },
  ])('the other copy is $name → $want', ({ other, want }) => {
    expect(ask(other)).toBe(want);
  });

  test('a replica of another volume is not found', () => {
    expect(decideRemoval([], A)).toMatchObject({ kind: 'refuse', code: 'replica.not_found' });
  });
});
