import { BLOCK_BYTES, GIB, TIB, VOLUME_BYTES_MAX } from '@holdfast/core/model/bytes.js';
import type { LayerChange } from '@holdfast/core/model/layer-task.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { AN_OWNER, anIdleVolume } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, ON_ANY_NODE } from '@holdfast/testkit/lifecycle-builder.js';
import { aTask } from '@holdfast/testkit/task-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { decideExpansion, largestSize } from './decide-expansion.js';

function asked(change: LayerChange): Partial<Volume> {
  return { task: aTask(change) };
}

/** An attached volume of 1 GiB with a copy on a disk of 100 GiB and another on one of 4 GiB. */
function decide(sizeBytes: number, volume: Partial<Volume> = {}) {
  const fleet = aFleet({ n1: {}, n2: { disks: { 'n2-disk': { bytes: 4 * GIB } } } });
  return decideExpansion(
    aVolumeView({
      volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('n1'), ...volume }),
      replicas: [aReplicaOn('n1-disk'), aReplicaOn('n2-disk')],
      fleet,
    }),
    sizeBytes,
  );
}

test.each<{ name: string; sizeBytes: number; volume?: Partial<Volume>; want: object }>([
  {
    name: 'A volume may grow where all its disks have the space, which is booked.',
    sizeBytes: 2 * GIB,
    want: {
      kind: 'allow',
      changes: ['n1-disk', 'n2-disk'].map((diskId) => ({
        kind: 'replica.resize',
        replicaId: `on-${diskId}`,
        sizeBytes: 2 * GIB,
        booking: { diskId, sizeBytes: GIB },
      })),
    },
  },
  {
    name: 'The size that it has changes nothing, attached or not.',
    sizeBytes: GIB,
    volume: { lifecycle: DETACHED },
    want: { kind: 'unchanged' },
  },
  {
    name: 'The size that it grows to already changes nothing.',
    sizeBytes: 2 * GIB,
    volume: asked({ kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB }),
    want: { kind: 'unchanged' },
  },
  {
    name: 'Another size is refused while it grows.',
    sizeBytes: 3 * GIB,
    volume: asked({ kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB }),
    want: { code: 'volume.busy', why: 'volume pg-data is busy: its expand has not ended' },
  },
  {
    name: 'A detached volume may grow too.',
    sizeBytes: 2 * GIB,
    volume: { lifecycle: DETACHED },
    want: { kind: 'allow' },
  },
  {
    name: 'A volume that attaches has to be attached first.',
    sizeBytes: 2 * GIB,
    volume: { lifecycle: { state: 'attaching', request: ON_ANY_NODE, grant: undefined } },
    want: { code: 'volume.not_attached' },
  },
  {
    name: 'A volume never shrinks.',
    sizeBytes: GIB / 2,
    want: { code: 'request.invalid', why: 'a volume can only grow; it has 1 GiB' },
  },
  { name: 'A size is a number of whole blocks.', sizeBytes: 2 * GIB + 1, want: { code: 'request.invalid' } },
  { name: 'A size has a limit.', sizeBytes: VOLUME_BYTES_MAX * 2, want: { code: 'request.invalid' } },
  {
    name: 'A disk without the space is named, with its numbers.',
    sizeBytes: 50 * GIB,
    want: {
      code: 'volume.expansion_impossible',
      why: expect.stringMatching(
        /^pg-data can't grow: n2\/n2-disk can't take 49 GiB more: storage-[a-z-]+ \d+ leaves [\d.]+ [GM]iB \(4 GiB of 4 GiB.*; the largest size that fits is [\d.]+ GiB \(\d+ bytes\)$/,
      ),
      cures: ['make room on these disks, or move the replicas to larger ones'],
    },
  },
])('$name', ({ sizeBytes, volume, want }) => {
  expect(decide(sizeBytes, volume)).toMatchObject(want);
});

test.each([{ booked: 0 }, { booked: 3 * GIB }])(
  'The size that a refusal names fits beside $booked bytes, and one block more does not.',
  ({ booked }) => {
    const disk = { bytes: 4 * GIB, storageScheduledBytes: booked };
    const view = aVolumeView({
      volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('n1') }),
      replicas: [aReplicaOn('n1-disk'), aReplicaOn('n2-disk')],
      fleet: aFleet({ n1: {}, n2: { disks: { 'n2-disk': disk } } }),
    });
    const largest = largestSize(view);
    expect(largest).toBeGreaterThan(GIB);
    expect(decideExpansion(view, largest).kind).toBe('allow');
    expect(decideExpansion(view, largest + BLOCK_BYTES).kind).toBe('refuse');
  },
);

describe('a volume on a disk of 64 TiB', () => {
  test.each([
    { fileSystem: 'ext4', sizeBytes: 16 * TIB, want: 'volume.expansion_impossible' },
    { fileSystem: 'ext4', sizeBytes: 16 * TIB - BLOCK_BYTES, want: 'allow' },
    { fileSystem: 'xfs', sizeBytes: 16 * TIB, want: 'allow' },
  ])(
    'grows on $fileSystem to $sizeBytes as far as one file goes: $want',
    ({ fileSystem, sizeBytes, want }) => {
      const fleet = aFleet({ n1: { disks: { 'n1-disk': { bytes: 64 * TIB, fileSystem } } } });
      const view = aVolumeView({
        volume: anIdleVolume(AN_OWNER, { lifecycle: attachedOn('n1') }),
        replicas: [aReplicaOn('n1-disk')],
        fleet,
      });
      const decision = decideExpansion(view, sizeBytes);
      expect(decision.kind === 'refuse' ? decision.code : decision.kind).toBe(want);
      if (fileSystem === 'ext4') expect(largestSize(view)).toBe(16 * TIB - BLOCK_BYTES);
    },
  );
});
