import { AN_OWNER, aRebuild, aVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type VolumeId } from '../model/ids.js';
import type { Replica } from '../model/replica.js';
import { onlyRelocates, planRebuildPriority } from './plan-rebuild-priority.js';

const VOLUME = asId<VolumeId>(testId(1));
const full = aReplicaOn('n1-disk', { mode: 'RW' });
const failed = aReplicaOn('n2-disk', { mode: 'ERR', failedAt: NOON });
const leaving = aReplicaOn('n4-disk', { mode: 'RW', intent: 'evict' });
const target = aReplicaOn('n3-disk', { healthyAt: undefined });

test.each([
  {
    name: 'dropped to its last copy moves to one',
    state: 'queued',
    known: 2,
    replicas: [full, failed, target],
    want: 1,
  },
  {
    name: 'got a copy back moves to two',
    state: 'queued',
    known: 1,
    replicas: [full, { ...failed, failedAt: undefined }, target],
    want: 2,
  },
  {
    name: 'is as it was stays',
    state: 'queued',
    known: 1,
    replicas: [full, failed, target],
    want: undefined,
  },
  {
    name: 'dropped to its last copy while it runs is not preempted any more',
    state: 'running',
    known: 2,
    replicas: [full, failed, target],
    want: 1,
  },
] as const)('the priority of a rebuild whose volume $name', ({ state, known, replicas, want }) => {
  const { clusterId } = AN_OWNER;
  const rebuild = aRebuild({
    clusterId,
    volumeId: VOLUME,
    targetReplicaId: target.id,
    state,
    healthyCopies: known,
  });
  const step = planRebuildPriority(aVolumeView({ replicas, rebuilds: [rebuild] }));
  const patches = step?.kind === 'commit' ? step.changes : [];
  expect(
    patches.map((change) => (change.kind === 'rebuild.patch' ? change.patch.healthyCopies : change)),
  ).toEqual(want === undefined ? [] : [want]);
});

test.each<{ name: string; wanted: number; others: Replica[]; want: boolean }>([
  { name: 'the only copy is to leave', wanted: 1, others: [leaving], want: true },
  { name: 'one of two is to leave', wanted: 2, others: [full, leaving], want: true },
  { name: 'one is to leave and another is missing', wanted: 3, others: [full, leaving], want: false },
  { name: 'one has failed', wanted: 2, others: [full, failed], want: false },
  { name: 'one is removed', wanted: 2, others: [full, { ...leaving, intent: 'remove' }], want: false },
])('a rebuild only replaces a copy where $name: $want', ({ wanted, others, want }) => {
  const volume = aVolume(AN_OWNER);
  const spec = { ...volume.spec, numberOfReplicas: wanted };
  expect(onlyRelocates({ volume: { ...volume, spec }, replicas: [...others, target] })).toBe(want);
});
