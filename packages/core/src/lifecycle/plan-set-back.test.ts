import { AN_OWNER, aVolume, NOON } from '@holdfast/testkit/builders.js';
import { aFleet, aReplicaOn } from '@holdfast/testkit/fleet-builder.js';
import { aVolumeView } from '@holdfast/testkit/volume-view-builder.js';
import { describe, expect, test } from '@jest/globals';
import { copyRecord } from '../model/copy-record.js';
import { DISK_SET_BACK } from '../model/disk-stamp.js';
import { asId, type NodeId, type ReplicaId } from '../model/ids.js';
import { REBUILD_RETRIES_MAX, type Replica } from '../model/replica.js';
import type { VolumeView } from '../model/views.js';
import { DETACHED } from '../model/volume-lifecycle.js';
import { currentCopies } from './decide-start.js';
import { holdsAcceptance, planSetBack } from './plan-set-back.js';

const SET_BACK = [
  {
    type: 'Ready' as const,
    status: 'False' as const,
    reason: DISK_SET_BACK,
    message: '',
    lastTransitionAt: NOON,
  },
];
const GIVEN_UP = { rebuildRetryCount: REBUILD_RETRIES_MAX, failure: { reason: DISK_SET_BACK } };

/** A detached volume with copies on a and b; the disk of the one on b was set back. */
function view(b: Partial<Replica> = {}, a: Partial<Replica> = {}, isAccepted = false): VolumeView {
  const fleet = aFleet({ a: {}, b: {} });
  const disks = fleet.disks.map((disk) => {
    if (disk.id !== aReplicaOn('b-disk').diskId) return disk;
    return isAccepted ? { ...disk, acceptedNodeId: asId<NodeId>('b') } : { ...disk, conditions: SET_BACK };
  });
  return aVolumeView({
    volume: aVolume(AN_OWNER, { lifecycle: DETACHED }),
    replicas: [
      { ...aReplicaOn('a-disk'), mode: undefined, ...a },
      { ...aReplicaOn('b-disk'), mode: undefined, ...b },
    ],
    fleet: { ...fleet, disks },
  });
}

function patchOf(seen: VolumeView): unknown {
  const step = planSetBack(seen, NOON);
  return step?.kind === 'commit' ? step.changes[0] : undefined;
}

describe('a copy on a disk that was set back', () => {
  test.each([
    { name: 'a full one', seen: view(), failedAt: NOON },
    { name: 'one whose disk a user has accepted', seen: view({}, {}, true), failedAt: NOON },
    {
      name: 'one that had failed and may be brought up to date',
      seen: view({ failedAt: NOON, mode: 'ERR' }),
    },
  ])('is given up: $name', ({ seen, failedAt }) => {
    const patch = failedAt === undefined ? GIVEN_UP : { ...GIVEN_UP, failedAt };
    expect(patchOf(seen)).toMatchObject({ replicaId: 'on-b-disk', patch });
  });

  test.each([
    { name: 'the only full one', seen: view({}, { failedAt: NOON, mode: 'ERR' }) },
    { name: 'one that an engine uses', seen: view({ mode: 'RW' }) },
    { name: 'one that is given up', seen: view({ failedAt: NOON, ...GIVEN_UP, failure: undefined }) },
    { name: 'one that is to go', seen: view({ intent: 'remove' }) },
  ])('stays as it is: $name', ({ seen }) => {
    expect(patchOf(seen)).toBeUndefined();
  });

  test('is not believed by an attach, whatever its record says', () => {
    const ids = ['on-a-disk', 'on-b-disk'].map((id) => asId<ReplicaId>(id));
    const record = copyRecord(1, 1, ids);
    const seen = view({ failedAt: NOON, failure: { reason: DISK_SET_BACK, message: '' } });
    const found = new Map(ids.map((id) => [id, record]));
    expect(currentCopies({ ...seen, volume: { ...seen.volume, record } }, found)).toMatchObject({
      kind: 'go',
      current: [ids[0]],
    });
  });

  test('holds up the acceptance of its disk while an engine uses it, and until it is given up', () => {
    const [a, b] = view().replicas;
    if (a === undefined || b === undefined) throw new Error('the view has two copies');
    const isOnB = ({ diskId }: Replica) => diskId === b.diskId;
    expect(holdsAcceptance(b, [a], isOnB)).toBe(true);
    expect(holdsAcceptance({ ...b, mode: 'RW' }, [], isOnB)).toBe(true);
    expect(holdsAcceptance({ ...b, failedAt: NOON, ...GIVEN_UP, failure: undefined }, [a], isOnB)).toBe(
      false,
    );
    expect(holdsAcceptance(b, [{ ...a, failedAt: NOON }], isOnB)).toBe(false);
  });
});
