import { AN_OWNER, anIdleVolume, aRebuild, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { anEngineOn, aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import type { Rebuild } from '../model/rebuild.js';
import type { Replica, ReplicaMode } from '../model/replica.js';
import { planRemoval } from './plan-removal.js';

test.each<{ name: string; replica: Partial<Replica>; reported?: ReplicaMode; want: string }>([
  { name: 'counts as used', replica: { mode: 'RW' }, want: 'drop-replica' },
  {
    name: 'is written, as was reported before that is concluded',
    replica: {},
    reported: 'WO',
    want: 'drop-replica',
  },
  { name: 'was dropped', replica: { mode: 'ERR', failedAt: NOON }, reported: 'ERR', want: 'remove-replica' },
  {
    name: 'was dropped after the last report',
    replica: { mode: 'ERR', failedAt: NOON },
    reported: 'RW',
    want: 'remove-replica',
  },
  { name: 'no engine lists', replica: {}, want: 'remove-replica' },
])('a copy that is to go and $name: $want', ({ replica, reported, want }) => {
  const leaving = aReplicaOn('b-disk', { healthyAt: undefined, intent: 'remove', ...replica });
  const replicas = reported === undefined ? [] : [{ replicaId: leaving.id, mode: reported, reason: '' }];
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 }),
    replicas: [aReplicaOn('a-disk', { mode: 'RW' }), leaving],
    fleet: aFleet({ a: {}, b: {} }),
    engine: anEngineOn('a', { replicas }),
  });
  expect(planRemoval(view, NOON)).toMatchObject({ kind: want, replicaId: leaving.id });
});

test.each<{ state: Rebuild['state']; wanted: number; want: string | undefined }>([
  { state: 'queued', wanted: 2, want: 'on-c-disk' },
  { state: 'running', wanted: 2, want: 'on-c-disk' },
  { state: 'running', wanted: 3, want: undefined },
  // Nor is a full copy given up meanwhile: the first removal decides which is the next.
  { state: 'running', wanted: 1, want: 'on-c-disk' },
])('with a rebuild $state and $wanted copies wanted goes $want', ({ state, wanted, want }) => {
  const coming = aReplicaOn('c-disk', { healthyAt: undefined, mode: 'WO' });
  const volume = anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 });
  const view = aVolumeView({
    volume: { ...volume, spec: { ...volume.spec, numberOfReplicas: wanted } },
    replicas: [aReplicaOn('a-disk', { mode: 'RW' }), aReplicaOn('b-disk', { mode: 'RW' }), coming],
    rebuilds: [aRebuild({ state, targetReplicaId: coming.id })],
    fleet: aFleet({ a: {}, b: {}, c: {} }),
    engine: anEngineOn('a'),
  });
  const step = planRemoval(view, NOON);
  const changes = step?.kind === 'commit' ? step.changes : [];
  expect(changes).toEqual(
    want === undefined ? [] : [{ kind: 'replica.patch', replicaId: want, patch: { intent: 'remove' } }],
  );
});

test.each([
  { wanted: 2, want: 'remove-replica' },
  // It is what the missing copy is made of, should its node come back.
  { wanted: 3, want: undefined },
])('a copy that failed long ago, of a volume with 2 full ones that wants $wanted: $want', (row) => {
  const { wanted, want } = row;
  const old = new Date(NOON.getTime() - 30 * 24 * 3600_000);
  const failed = aReplicaOn('c-disk', { failedAt: old, lastFailedAt: old, lastHealthyAt: old });
  const volume = anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 });
  const view = aVolumeView({
    volume: { ...volume, spec: { ...volume.spec, numberOfReplicas: wanted } },
    replicas: [aReplicaOn('a-disk', { mode: 'RW' }), aReplicaOn('b-disk', { mode: 'RW' }), failed],
    fleet: aFleet({ a: {}, b: {}, c: { ready: false } }),
    engine: anEngineOn('a'),
  });
  expect(planRemoval(view, NOON)?.kind).toBe(want);
});

test.each<{ name: string; other: Partial<Replica>; want: string | undefined }>([
  { name: 'another full one stays', other: { mode: 'RW' }, want: 'drop-replica' },
  { name: 'the other has failed', other: { failedAt: NOON, healthyAt: undefined }, want: undefined },
  { name: 'the other is to go as well', other: { mode: 'RW', intent: 'remove' }, want: undefined },
])('a full copy that is to go, where $name: $want', ({ other, want }) => {
  const leaving = aReplicaOn('b-disk', { mode: 'RW', intent: 'remove' });
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 }),
    replicas: [aReplicaOn('a-disk', other), leaving],
    fleet: aFleet({ a: {}, b: {} }),
    engine: anEngineOn('a'),
  });
  expect(planRemoval(view, NOON)?.kind).toBe(want);
});

test.each([
  { name: 'while another one is full', healthyAt: NOON, want: 'remove-replica' },
  // It may be all that is left of the data.
  { name: 'and not while none is full', healthyAt: undefined, want: undefined },
])('a copy whose rebuild failed too often goes $name', ({ healthyAt, want }) => {
  const failed = aReplicaOn('b-disk', { failedAt: NOON, lastHealthyAt: NOON, rebuildRetryCount: 100 });
  const view = aVolumeView({
    volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('a'), epoch: 1 }),
    replicas: [aReplicaOn('a-disk', { healthyAt }), failed],
    fleet: aFleet({ a: {}, b: {} }),
    engine: anEngineOn('a'),
  });
  expect(planRemoval(view, NOON)?.kind).toBe(want);
});
