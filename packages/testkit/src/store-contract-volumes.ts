import type { Change } from '@holdfast/control/ports/store.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import {
  asId,
  type NodeId,
  type ReplicaId,
  type SnapshotId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import { DETACHED, requestOf, type VolumeLifecycle } from '@holdfast/core/model/volume-lifecycle.js';
import type { VolumeTask } from '@holdfast/core/model/volume-task.js';
import { expect, test } from '@jest/globals';
import { aSnapshot, aVolume, NOON, testId } from './builders.js';
import {
  aGrant,
  attachedOn,
  attachingOn,
  detachingFrom,
  ON_ANY_NODE,
  TO_REPAIR,
} from './lifecycle-builder.js';
import { outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';
import { aFill, aPurge, aTask } from './task-builder.js';

const VOLUME = asId<VolumeId>(testId(1));
const REPLICA = asId<ReplicaId>(testId(101));
const SNAPSHOT = asId<SnapshotId>(testId(601));

const SOURCE = asId<VolumeId>(testId(2));
const DELETING = { state: 'deleting', requestedAt: NOON, grant: undefined } as const;
const A_SURVEY = {
  takenAt: NOON,
  copies: [{ replicaId: REPLICA, record: copyRecord(6, 1, [REPLICA]), isClean: false, writtenBytes: 4096 }],
  claimedBy: [REPLICA],
};
const A_FILL = { sourceVolumeId: SOURCE, snapshotId: SNAPSHOT };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function volumeContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const source = () =>
    fixture.volume({ id: SOURCE, name: 'source' }, [
      { kind: 'snapshot.create', snapshot: aSnapshot({ id: SNAPSHOT, volumeId: SOURCE }) },
    ]);

  test('a volume reads as it was created, with every field set', async () => {
    const volume = aVolume(fixture.tenant, {
      lifecycle: attachedOn(testId(301), { bootId: testId(401), secret: 'secret' }),
      epoch: 7,
      record: copyRecord(7, 2, [REPLICA]),
      lastDegradedAt: NOON,
      attention: { code: 'CopiesMissing', message: 'two of three', cures: ['start node-2'], since: NOON },
      conditions: [{ type: 'Scheduled', status: 'False', reason: 'R', message: 'm', lastTransitionAt: NOON }],
      verification: {
        requestedAt: NOON,
        state: 'done',
        finishedAt: NOON,
        equal: true,
        replicas: [{ replicaId: REPLICA, checksum: 'ab', writtenBytes: 4096, error: null }],
        message: '',
      },
      chain: {
        key: '7.2',
        headParentId: SNAPSHOT,
        headBytes: 8192,
        busy: 'purging',
        keptIds: [SNAPSHOT],
        readAt: NOON,
      },
      task: aFill({
        ...A_FILL,
        startedEpoch: 7,
        trouble: { message: 'no copy', at: NOON },
        admittedAt: NOON,
      }),
      labels: { team: 'a', tier: '' },
      rebuildHold: 'standby',
      recurringSnapshots: [
        {
          name: 'nightly',
          cron: '0 3 * * *',
          retain: 7,
          nextRunAt: NOON,
          lastRun: {
            dueAt: NOON,
            at: NOON,
            outcome: 'skipped',
            snapshotName: undefined,
            message: 'the volume was not attached',
          },
        },
      ],
      integrityCheckedAt: NOON,
      hashing: { admittedAt: NOON, isPass: true },
    });
    await source();
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'volume.create', volume }]);
    expect((await fixture.load(VOLUME)).volume).toEqual(volume);
  });

  test.each<VolumeLifecycle>([
    { state: 'creating', request: ON_ANY_NODE },
    { state: 'attaching', request: TO_REPAIR, grant: undefined },
    attachingOn(testId(301), { bootId: testId(401) }),
    attachingOn(testId(301), { survey: A_SURVEY, salvage: { replicaIds: [REPLICA], requestedAt: NOON } }),
    attachedOn(testId(301)),
    detachingFrom(testId(301), { isForced: true }),
    detachingFrom(testId(301), { request: { nodeId: asId<NodeId>(testId(302)), requestedAt: NOON } }),
    DELETING,
    { ...DELETING, grant: aGrant(testId(301)) },
  ])(
    'a volume that is $state reads with all that belongs to it, also after another state',
    async (lifecycle) => {
      await fixture.volume({ lifecycle });
      expect((await fixture.load(VOLUME)).volume.lifecycle).toEqual(lifecycle);
      await fixture.patch(VOLUME, 1, { lifecycle: attachedOn(testId(303)) });
      await fixture.patch(VOLUME, 2, { lifecycle: DETACHED });
      expect((await fixture.load(VOLUME)).volume.lifecycle).toEqual(DETACHED);
      await fixture.patch(VOLUME, 3, { lifecycle });
      expect((await fixture.load(VOLUME)).volume.lifecycle).toEqual(lifecycle);
    },
  );

  test.each<VolumeTask>([
    aFill({ ...A_FILL, admittedAt: NOON }),
    aPurge({ id: testId(801), startedEpoch: 7, tries: 2, trouble: { message: 'busy', at: NOON } }),
    aPurge({ admittedAt: NOON }),
    aTask({ kind: 'revert', snapshotId: SNAPSHOT }),
    aTask({ kind: 'expand', sizeBytes: 2 * GIB, fromBytes: GIB }),
  ])('a task that is a $kind reads as it was stored, also after another one', async (task) => {
    await source();
    await fixture.volume();
    await fixture.patch(VOLUME, 1, { task: aPurge({ admittedAt: NOON }) });
    await fixture.patch(VOLUME, 2, { task });
    expect((await fixture.load(VOLUME)).volume.task).toEqual(task);
    await fixture.patch(VOLUME, 3, { task: undefined });
    expect((await fixture.load(VOLUME)).volume.task).toBeUndefined();
  });

  test('an admission reaches the purge or filling that waits; without one it is a conflict', async () => {
    await fixture.volume({ task: aPurge() });
    const admission: Change = { kind: 'volume.admit', volumeId: VOLUME, admittedAt: NOON };
    await fixture.store.commit({ kind: 'new' }, [admission]);
    const { volume } = await fixture.load(VOLUME);
    expect([volume.task, volume.version]).toEqual([aPurge({ admittedAt: NOON }), 2]);
    const task = aTask({ kind: 'revert', snapshotId: SNAPSHOT });
    await fixture.patch(VOLUME, 2, { task });
    expect(await outcome(fixture.store.commit({ kind: 'new' }, [admission]))).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).volume.task).toEqual(task);
  });

  test('an attachment without a node reads as one', async () => {
    await fixture.volume({ lifecycle: { state: 'attaching', request: ON_ANY_NODE, grant: undefined } });
    expect(requestOf((await fixture.load(VOLUME)).volume)).toEqual(ON_ANY_NODE);
  });
}
