import { AN_OWNER, anIdleVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { expect, test } from '@jest/globals';
import { GIB } from '../model/bytes.js';
import { asId, type NodeId, type ReplicaId, type VolumeId } from '../model/ids.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { planDrain } from './plan-drain.js';

test('what one volume takes the next one does not find: the plan blocks where there is room for one only', () => {
  const settings = { 'storage-minimal-available-percentage': 0 };
  const fleet = aFleet({ a: {}, b: { disks: { 'b-disk': { bytes: 3 * GIB } } } }, settings);
  const volumes = [1, 2].map((number) => {
    const volume = anIdleVolume(AN_OWNER, { id: asId<VolumeId>(testId(number)), lifecycle: DETACHED });
    volume.spec = { ...volume.spec, numberOfReplicas: 1, sizeBytes: 2 * GIB };
    const ids = { id: asId<ReplicaId>(testId(100 + number)), volumeId: volume.id };
    return { volume, replicas: [aReplicaOn('a-disk', { ...ids, writtenBytes: GIB })], rebuilds: [] };
  });
  const plan = planDrain(
    { id: asId<NodeId>('a') },
    'block-for-eviction',
    { fleet, volumes, speeds: [] },
    NOON,
  );
  expect(plan).toMatchObject({ isPossible: false, replicasToMove: 1, bytesToMove: GIB, copiesAtLowest: 1 });
  expect(
    plan.volumes.map(({ outcome, blockers }) => [outcome, ...blockers.map(({ reason }) => reason)]),
  ).toEqual([['moves'], ['blocked', 'NoPlace']]);
});

test.each([
  'concurrent-rebuild-per-cluster-limit',
  'concurrent-replica-rebuild-per-node-limit',
  'concurrent-rebuild-source-per-node-limit',
] as const)('a plan is blocked where %s is 0, and names it', (limit) => {
  const fleet = aFleet({ a: {}, b: {} }, { [limit]: 0 });
  const volume = anIdleVolume(AN_OWNER, { lifecycle: DETACHED });
  volume.spec = { ...volume.spec, numberOfReplicas: 1 };
  const volumes = [{ volume, replicas: [aReplicaOn('a-disk', { volumeId: volume.id })], rebuilds: [] }];
  const view = { fleet, volumes, speeds: [] };
  const plan = planDrain({ id: asId<NodeId>('a') }, 'block-for-eviction', view, NOON);
  expect(plan.isPossible).toBe(false);
  expect(plan.volumes[0]?.blockers).toMatchObject([
    { reason: 'RebuildsStopped', cures: [`set ${limit} to 1 or more`] },
  ]);
});
