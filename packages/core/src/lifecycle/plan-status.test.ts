import { AN_OWNER, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { attachedOn, attachingOn } from '@holdfast/testkit/lifecycle-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import type { Robustness, Volume } from '../model/volume.js';
import { planShownHealth } from './plan-status.js';

/** A volume whose only copy is on a disk that has vanished. */
function shownAs(robustness: Robustness, lifecycle: Volume['lifecycle'] = attachingOn('a')) {
  const fleet = aFleet({ a: {} });
  const replica = { ...aReplicaOn('a-disk'), mode: undefined };
  const gone = { type: 'Ready' as const, status: 'False' as const, reason: 'DiskMissing', message: '' };
  const disks = fleet.disks.map((disk) => ({ ...disk, conditions: [{ ...gone, lastTransitionAt: NOON }] }));
  const record = copyRecord(1, 1, [replica.id]);
  const volume = aVolume(AN_OWNER, { lifecycle, robustness, record });
  const step = planShownHealth(
    aVolumeView({ volume, replicas: [replica], fleet: { ...fleet, disks } }),
    NOON,
  );
  if (step?.kind !== 'commit') return undefined;
  const [change] = step.changes;
  return change?.kind === 'volume.patch' ? change.patch.robustness : undefined;
}

test.each<{ shown: Robustness; want: Robustness | undefined }>([
  { shown: 'healthy', want: 'faulted' },
  { shown: 'degraded', want: 'faulted' },
  { shown: 'unknown', want: undefined },
  { shown: 'faulted', want: undefined },
])('an attach that waits for copies shows a volume as $shown that has none: $want', ({ shown, want }) => {
  expect(shownAs(shown)).toBe(want);
});

test('a volume that no attach waits for is left to the rest of its plan', () => {
  expect(shownAs('healthy', attachedOn('a'))).toBeUndefined();
});
