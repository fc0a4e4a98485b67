import { A_SPEC, AN_OWNER, anIdleVolume } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn, type NodePart } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { asId, type ReplicaId } from '../model/ids.js';
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

test.each<{ name: string; nodes: Record<string, NodePart>; members: string[]; want: string }>([
  { name: 'degraded with two of three', nodes: { c: DEAD }, members: ['a', 'b', 'c'], want: 'degraded' },
  {
    name: 'unknown with one of three, since no engine may start on it',
    nodes: { b: DEAD, c: DEAD },
    members: ['a', 'b', 'c'],
    want: 'unknown',
  },
  {
    name: 'faulted with one of three, where the nodes of the others say that their disks are missing',
    nodes: { b: MISSING('b-disk'), c: MISSING('c-disk') },
    members: ['a', 'b', 'c'],
    want: 'faulted',
  },
  {
    name: 'degraded with one that was the last in use',
    nodes: { b: DEAD, c: DEAD },
    members: ['a'],
    want: 'degraded',
  },
])('a detached volume of three copies in its record is $name', ({ nodes, members, want }) => {
  const ids = members.map((name) => asId<ReplicaId>(name));
  const replicas = ['a', 'b', 'c'].map((name) => aReplicaOn(`${name}-disk`, { id: asId<ReplicaId>(name) }));
  const spec = { ...A_SPEC, numberOfReplicas: 3 };
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { spec, record: copyRecord(1, 1, ids) }),
    replicas,
    fleet: aFleet({ a: {}, b: {}, c: {}, ...nodes }),
  });
  expect(robustnessOf(view)).toBe(want);
});
