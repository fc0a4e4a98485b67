import { A_SPEC, AN_OWNER, anIdleVolume } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { robustnessOf } from './plan-status.js';

const MISSING = (disk: string): NodePart => ({ disks: { [disk]: { ready: false } } });
const DEAD: NodePart = { ready: false };

test.each<{ name: string; nodes: Record<string, NodePart>; want: string }>([
  { name: 'healthy with all copies in reach', nodes: {}, want: 'healthy' },
  { name: 'degraded with a copy on a dead node', nodes: { b: DEAD }, want: 'degraded' },
  { name: 'degraded with a copy on a missing disk', nodes: { b: MISSING('b-disk') }, want: 'degraded' },
  {
    name: 'faulted where all nodes say that its disks are missing',
    nodes: { a: MISSING('a-disk'), b: MISSING('b-disk') },
    want: 'faulted',
  },
  {
    name: 'unknown where a dead node may have a copy',
    nodes: { a: MISSING('a-disk'), b: DEAD },
    want: 'unknown',
  },
  { name: 'unknown where all nodes are dead', nodes: { a: DEAD, b: DEAD }, want: 'unknown' },
])('a detached volume is $name', ({ nodes, want }) => {
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { spec: { ...A_SPEC, numberOfReplicas: 2 } }),
    replicas: [aReplicaOn('a-disk'), aReplicaOn('b-disk')],
    fleet: aFleet({ a: {}, b: {}, ...nodes }),
  });
  expect(robustnessOf(view)).toBe(want);
});
