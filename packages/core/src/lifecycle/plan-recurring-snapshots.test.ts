import { A_SPEC, AN_OWNER, aSnapshot, aVolume, NOON, testId } from '@holdfast/testkit/builders.js';
import { attachedOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aTask } from '@holdfast/testkit/task-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { asId, type SnapshotId, type VolumeId } from '../model/ids.js';
import type { Snapshot } from '../model/snapshot.js';
import type { VolumeView } from '../model/views.js';
import type { Volume } from '../model/volume.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { planRecurringSnapshots } from './plan-recurring-snapshots.js';

const VOLUME = asId<VolumeId>(testId(1));
const OLD = asId<SnapshotId>(testId(601));
const hourly = { name: 'hourly', cron: '@hourly', retain: 1, nextRunAt: NOON, lastRun: undefined };
const later = { ...hourly, nextRunAt: new Date(NOON.getTime() + 1) };
const at = (seconds: number) => new Date(NOON.getTime() - 60_000 + seconds * 1000);
const own = (number: number, part: Partial<Snapshot> = {}) =>
  aSnapshot({
    volumeId: VOLUME,
    id: asId(testId(600 + number)),
    name: `hourly-${number}`,
    recurringName: 'hourly',
    createdAt: at(number),
    ...part,
  });

const failedOwn = (number: number, minutes: number) => {
  const trouble = { message: 'the disk is full', at: new Date(NOON.getTime() - minutes * 60_000) };
  return own(number, { state: 'failed', trouble });
};

/** An attached volume with a schedule that keeps one snapshot, and two of its snapshots. */
function view(volume: Partial<Volume> = {}, part: Partial<VolumeView> = {}): VolumeView {
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle: attachedOn('n1'), recurringSnapshots: [hourly], ...volume }),
    snapshots: [own(1), own(2)],
    ...part,
  });
}

test.each<{ name: string; seen: VolumeView; want: string | undefined }>([
  { name: 'is due', seen: view(), want: 'taken' },
  {
    name: 'is due a moment later',
    seen: view({ recurringSnapshots: [later] }, { snapshots: [] }),
    want: undefined,
  },
  {
    name: 'is due while the limit is reached',
    seen: view({ spec: { ...A_SPEC, snapshotMaxCount: 2 } }),
    want: 'skipped: volume pg-data has 2 snapshots, and may have 2',
  },
  {
    name: 'is due while a person has taken its name',
    seen: view({}, { snapshots: [own(1, { name: 'hourly-20260101T1200Z', recurringName: undefined })] }),
    want: 'skipped: volume pg-data has a snapshot named hourly-20260101T1200Z',
  },
  {
    name: 'is due a minute after one that found the disk full',
    seen: view({}, { snapshots: [own(1), failedOwn(2, 1)] }),
    want: 'skipped: the one before could not be taken: the disk is full',
  },
  {
    name: 'is due 55 minutes after one that found the disk full',
    seen: view({}, { snapshots: [own(1), failedOwn(2, 55)] }),
    want: 'taken',
  },
  {
    name: 'is due after a person has taken one since that which found the disk full',
    seen: view({}, { snapshots: [failedOwn(2, 1), own(3, { recurringName: undefined })] }),
    want: 'taken',
  },
  {
    name: 'of a volume that is being deleted is due',
    seen: view({ lifecycle: { state: 'deleting', requestedAt: NOON, grant: undefined } }),
    want: undefined,
  },
])('a recurring snapshot that $name: $want', ({ seen, want }) => {
  const step = planRecurringSnapshots(seen, NOON);
  const told = step?.kind === 'commit' ? step.why.replace('hourly is ', '') : undefined;
  expect(step?.kind === 'request-snapshot' ? 'taken' : told).toBe(want);
});

const revert = aTask({ kind: 'revert', snapshotId: OLD });

test.each<{ name: string; seen: VolumeView; want: readonly string[] }>([
  { name: 'one more than is kept', seen: view({ recurringSnapshots: [later] }), want: [OLD] },
  {
    name: 'one that a volume is cloned from',
    seen: view({ recurringSnapshots: [later] }, { clones: [{ volumeId: asId(testId(2)), snapshotId: OLD }] }),
    want: [],
  },
  {
    name: 'one that is reverted to',
    seen: view({ recurringSnapshots: [later], task: revert }),
    want: [],
  },
  {
    name: 'one while the newest is not there yet',
    seen: view({ recurringSnapshots: [later] }, { snapshots: [own(1), own(2, { state: 'creating' })] }),
    want: [],
  },
  {
    name: 'one that could not be taken, once a newer one is there',
    seen: view({ recurringSnapshots: [later] }, { snapshots: [own(1, { state: 'failed' }), own(2)] }),
    want: [OLD],
  },
  {
    name: 'one that could not be taken, once a newer one could not either',
    seen: view(
      { recurringSnapshots: [later] },
      { snapshots: [own(1, { state: 'failed' }), own(2, { state: 'failed' })] },
    ),
    want: [OLD],
  },
  {
    name: 'any of a detached volume',
    seen: view({ lifecycle: DETACHED, recurringSnapshots: [later] }),
    want: [],
  },
])('retention of $name deletes $want', ({ seen, want }) => {
  const step = planRecurringSnapshots(seen, NOON);
  const deleted = (step?.kind === 'commit' ? step.changes : []).flatMap((change) =>
    change.kind === 'snapshot.patch' || change.kind === 'snapshot.delete' ? [change.snapshotId] : [],
  );
  expect(deleted).toEqual(want);
});
