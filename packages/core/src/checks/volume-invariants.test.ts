import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type ReplicaId } from '@holdfast/core/model/ids.js';
import type { Replica } from '@holdfast/core/model/replica.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { AN_OWNER, aRebuild, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import type { VolumeView } from '../model/views.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { effectiveSettings } from '../settings/effective.js';
import { checkBookings, checkRebuildLimits, checkVolume } from './volume-invariants.js';

const attached: Partial<Volume> = { lifecycle: attachedOn('n1') };

function view(volume: Partial<Volume>, replicas: Replica[], part: Partial<VolumeView> = {}): VolumeView {
  return aVolumeView({
    volume: aVolume(AN_OWNER, volume),
    replicas,
    fleet: aFleet({ n1: { zone: 'a' }, n2: { zone: 'a' } }),
    ...part,
  });
}

const one = aReplicaOn('n1-disk', { mode: 'RW' });
const two = aReplicaOn('n2-disk', { mode: 'RW' });
const rebuild = aRebuild();

describe('checkVolume', () => {
  test('a sound volume has no finding', () => {
    expect(checkVolume(view(attached, [one, two]))).toEqual([]);
  });

  test.each([
    {
      name: 'two being rebuilt',
      found: view(attached, [
        { ...one, mode: 'WO' },
        { ...two, mode: 'WO' },
      ]),
      want: '2 write-only',
    },
    {
      name: 'two active rebuilds',
      found: view(attached, [one], { rebuilds: [rebuild, rebuild] }),
      want: '2 active rebuilds',
    },
    {
      name: 'a failed copy in use',
      found: view(attached, [{ ...one, failedAt: NOON }]),
      want: 'counts as RW',
    },
    { name: 'a mode without an engine', found: view({ lifecycle: DETACHED }, [one]), want: 'is RW' },
    {
      name: 'two copies on one node',
      found: view(attached, [one, { ...one, id: asId<ReplicaId>('x') }]),
      want: 'two copies in one node',
    },
    {
      name: 'two copies in one hard zone',
      found: view(
        { ...attached, spec: { ...aVolume(AN_OWNER).spec, replicaZoneSoftAntiAffinity: 'disabled' } },
        [one, two],
      ),
      want: 'two copies in one zone',
    },
  ])('a finding is: $name', ({ found, want }) => {
    expect(checkVolume(found).join('; ')).toContain(want);
  });
});

test('checkBookings finds a disk that is booked past its limit', () => {
  const disk = (storageScheduledBytes: number) =>
    aFleet({ n1: { disks: { d: { bytes: GIB, storageScheduledBytes } } } });
  expect(checkBookings(disk(GIB))).toEqual([]);
  expect(checkBookings(disk(GIB + 1))).toHaveLength(1);
});

test('checkRebuildLimits finds a node with more rebuilds than its limit', () => {
  const settings = effectiveSettings({ 'concurrent-replica-rebuild-per-node-limit': 1 });
  const queue = (running: (typeof rebuild)[]) => ({
    clusterId: AN_OWNER.clusterId,
    settings,
    nodes: [],
    queued: [],
    running,
  });
  expect(checkRebuildLimits(queue([rebuild]))).toEqual([]);
  expect(checkRebuildLimits(queue([rebuild, rebuild])).join()).toContain(
    'receives 2 rebuilds, the limit is 1',
  );
});
