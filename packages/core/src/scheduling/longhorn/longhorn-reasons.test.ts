import { TIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId } from '@holdfast/core/model/ids.js';
import { NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, aRequest, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { PlacementRequest } from '../framework/placement-request.js';
import { placeReplica } from '../placement/place-replica.js';
import { refusalByGuards } from './guards.js';
import { longhornReasons } from './longhorn-reasons.js';

describe('a refusal in the words of Longhorn', () => {
  test.each<{
    name: string;
    nodes: Record<string, NodePart>;
    request?: Partial<PlacementRequest>;
    want: string[];
  }>([
    { name: 'no node', nodes: {}, want: ['nodes are unavailable'] },
    {
      name: 'no node, and one is required',
      nodes: {},
      request: { requiredNodeId: asId<NodeId>('a') },
      want: ['hard affinity cannot be satisfied'],
    },
    { name: 'a node without disks', nodes: { a: { disks: {} } }, want: ['disks are unavailable'] },
    {
      name: 'a volume that ext4 can not hold',
      nodes: { a: { disks: { 'a-1': { fileSystem: 'ext4', bytes: 64 * TIB } } } },
      request: { sizeBytes: 16 * TIB },
      want: ['incompatible volume size'],
    },
    {
      name: 'anti-affinity has no words',
      nodes: { a: {} },
      request: { replicas: [aReplicaOn('a-disk')] },
      want: [],
    },
  ])('is $want where there is this: $name', ({ nodes, request = {}, want }) => {
    const asked = aRequest(request);
    const placement = placeReplica(asked, aFleet(nodes), NOON);
    const refusals = placement.kind === 'refused' ? placement.refusals : [];
    expect(placement.kind).toBe('refused');
    expect(longhornReasons(asked, refusals)).toEqual(want);
  });
});

test.each([
  { name: 'one that has a node', part: {}, want: 'replica already scheduled' },
  {
    name: 'one that failed before it was ever whole',
    part: { nodeId: undefined, healthyAt: undefined, failedAt: NOON },
    want: 'unused failed replica is not supported',
  },
  { name: 'one that was whole once', part: { nodeId: undefined, failedAt: NOON }, want: undefined },
])('the guards on $name', ({ part, want }) => {
  expect(refusalByGuards(aReplicaOn('a-disk', part))).toBe(want);
});
