import { asId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import { aReplica, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import { decideRemoval, decideRemovalByUser } from './decide-removal.js';

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

const COMING: Partial<Replica> = { healthyAt: undefined, mode: 'WO' };
const EMPTIED = { evictionRequested: true, allowScheduling: false };

test.each<{ name: string; nodes?: Record<string, NodePart>; first?: Partial<Replica>; want: string }>([
  { name: 'and so does the other one', want: 'allow' },
  { name: 'and the other one is evicted', nodes: { b: EMPTIED }, want: 'replica.last_healthy_copy' },
  {
    name: 'and the other one is drained away',
    nodes: { b: { drain: { policy: 'block-for-eviction', requestedAt: NOON, wasCordoned: false } } },
    want: 'replica.last_healthy_copy',
  },
  {
    name: 'no more than the other one, as both are evicted',
    nodes: { a: EMPTIED, b: EMPTIED },
    want: 'allow',
  },
  { name: 'no more: it alone is evicted', nodes: { a: EMPTIED }, want: 'allow' },
  { name: 'in vain, since it has failed', nodes: { b: EMPTIED }, first: { failedAt: NOON }, want: 'allow' },
])('a user may drop a copy that stays, $name: $want', ({ nodes, first, want }) => {
  const replicas = [aReplicaOn('a-disk', first), aReplicaOn('b-disk'), aReplicaOn('c-disk', COMING)];
  const fleet = aFleet({ a: {}, b: {}, c: {}, ...nodes });
  const decision = decideRemovalByUser({ replicas, fleet }, asId('on-a-disk'));
  expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
});
