import { A_SPEC, AN_OWNER, aSnapshot, aVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { attachedOn, detachingFrom } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { asId, type VolumeId } from '../model/ids.js';
import type { Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { planIntegrity } from './plan-integrity.js';

const VOLUME = asId<VolumeId>(testId(1));
const DAY_MS = 24 * 3600 * 1000;
const automatic = { requestedAt: NOON, force: false, automatic: true, startedEpoch: undefined };
const after = (ms: number) => new Date(NOON.getTime() + ms);

/** An attached volume that is admitted to hashing, whose periodic check is due, and one snapshot. */
function view(volume: Partial<Volume> = {}, snapshot: Partial<Snapshot> = {}): VolumeView {
  return aVolumeView({
    volume: aVolume(AN_OWNER, {
      lifecycle: attachedOn('n1'),
      hashing: { admittedAt: NOON, isPass: true },
      ...volume,
    }),
    snapshots: [aSnapshot({ volumeId: VOLUME, ...snapshot })],
  });
}

/** Changes of the step: to the volume, and to how many snapshots. */
function changes(of: VolumeView, now = NOON) {
  const step = planIntegrity(of, now);
  if (step?.kind !== 'commit') return undefined;
  const patch = step.changes.find(({ kind }) => kind === 'volume.patch');
  return {
    volume: patch?.kind === 'volume.patch' ? patch.patch : undefined,
    snapshots: step.changes.filter(({ kind }) => kind === 'snapshot.patch').length,
    events: step.changes.flatMap((change) => (change.kind === 'event' ? [change.event.type] : [])),
  };
}

describe('an admitted volume', () => {
  test.each<{ name: string; snapshot: Partial<Snapshot>; volume?: Partial<Volume>; want: number }>([
    { name: 'a ready one', snapshot: {}, want: 1 },
    { name: 'one that is asked for already', snapshot: { hashRequest: automatic }, want: 0 },
    { name: 'one that rebuilds made', snapshot: { origin: 'system' }, want: 0 },
    { name: 'one that is being deleted', snapshot: { state: 'removing' }, want: 0 },
    {
      name: 'any, where it was switched off meanwhile',
      snapshot: {},
      volume: { spec: { ...A_SPEC, snapshotDataIntegrity: 'disabled' } },
      want: 0,
    },
  ])('begins the check: asks $want hash of $name', ({ snapshot, volume = {}, want }) => {
    expect(changes(view(volume, snapshot))).toEqual({
      volume: { integrityCheckedAt: NOON },
      snapshots: want,
      events: [],
    });
  });

  const begun = { integrityCheckedAt: NOON };
  const over = { volume: { hashing: undefined }, snapshots: 0, events: [] };

  test.each<{ name: string; volume: Partial<Volume>; snapshot: Partial<Snapshot>; want: object | undefined }>(
    [
      {
        name: 'goes on while one waits',
        volume: begun,
        snapshot: { hashRequest: automatic },
        want: undefined,
      },
      { name: 'ends when none does', volume: begun, snapshot: {}, want: over },
      {
        name: 'does not wait for what a person asked for',
        volume: begun,
        snapshot: { hashRequest: { ...automatic, automatic: false } },
        want: over,
      },
      {
        name: 'ends with its attachment, and what waits is kept',
        volume: { ...begun, lifecycle: detachingFrom('n1') },
        snapshot: { hashRequest: automatic },
        want: over,
      },
      {
        name: 'asks for nothing where only a first hash waits',
        volume: { hashing: { admittedAt: NOON, isPass: false } },
        snapshot: {},
        want: over,
      },
    ],
  )('$name', ({ volume, snapshot, want }) => {
    expect(changes(view(volume, snapshot))).toEqual(want);
  });

  test('is given up after a day, with what waits, and says so', () => {
    const stuck = view(begun, { hashRequest: automatic });
    expect(changes(stuck, after(DAY_MS))).toBeUndefined();
    expect(changes(stuck, after(DAY_MS + 1))).toEqual({
      volume: { hashing: undefined },
      snapshots: 1,
      events: ['SnapshotCheckFailed'],
    });
  });

  test('is nothing without one', () => {
    expect(changes(view({ hashing: undefined }))).toBeUndefined();
  });
});
