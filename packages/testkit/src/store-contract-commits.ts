import type { Change } from '@holdfast/control/ports/store.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { copyRecord } from '@holdfast/core/model/copy-record.js';
import {
  asId,
  type NodeId,
  type RebuildId,
  type ReplicaId,
  type SnapshotId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { Snapshot } from '@holdfast/core/model/snapshot.js';
import { DETACHED } from '@holdfast/core/model/volume-lifecycle.js';
import { expect, test } from '@jest/globals';
import { aRebuild, aReplica, aSnapshot, NOON, testId } from './builders.js';
import { attachedOn, attachingOn } from './lifecycle-builder.js';
import { outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';
import { aFill } from './task-builder.js';

const VOLUME = asId<VolumeId>(testId(1));
const REPLICA = asId<ReplicaId>(testId(101));
const SNAPSHOT = asId<SnapshotId>(testId(601));
const REBUILD = asId<RebuildId>(testId(201));

const SOURCE = asId<VolumeId>(testId(2));
const DELETING = { state: 'deleting', requestedAt: NOON, grant: undefined } as const;
const A_FILL = { sourceVolumeId: SOURCE, snapshotId: SNAPSHOT };

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function commitContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const source = () =>
    fixture.volume({ id: SOURCE, name: 'source' }, [
      { kind: 'snapshot.create', snapshot: aSnapshot({ id: SNAPSHOT, volumeId: SOURCE }) },
    ]);

  test('a clone counts its source up, and is refused once its snapshot or its source is being deleted', async () => {
    const part = { task: aFill(A_FILL) };
    await source();
    await fixture.volume(part);
    expect(await outcome(fixture.patch(SOURCE, 1, { name: 'late' }))).toBe('store.conflict');
    const again = () => outcome(fixture.volume({ ...part, id: asId(testId(3)), name: 'again' }));
    await fixture.patch(SOURCE, 2, { lifecycle: DELETING });
    expect(await again()).toBe('snapshot.in_use');
    await fixture.patch(SOURCE, 3, { lifecycle: DETACHED });
    const removing: Change = { kind: 'snapshot.patch', snapshotId: SNAPSHOT, patch: { state: 'removing' } };
    await fixture.store.commit({ kind: 'volume', volumeId: SOURCE, ifVersion: 4 }, [removing]);
    expect(await again()).toBe('snapshot.in_use');
    expect((await fixture.load(SOURCE)).volume.version).toBe(5);
  });

  test('what does not exist is undefined', async () => {
    expect(await fixture.store.loadVolume(VOLUME)).toBeUndefined();
    expect(await fixture.store.agentOf(asId<NodeId>(testId(9)))).toBeUndefined();
  });

  test('a patch sets what it names, clears what it names as undefined, and counts the version up by one', async () => {
    await fixture.volume({ lastDegradedAt: NOON, name: 'kept' });
    await fixture.patch(VOLUME, 1, { lifecycle: DETACHED, lastDegradedAt: undefined });
    const { volume } = await fixture.load(VOLUME);
    expect(volume).toMatchObject({ lifecycle: DETACHED, name: 'kept', version: 2 });
    expect(volume.lastDegradedAt).toBeUndefined();
  });

  test('a commit of an older version changes nothing', async () => {
    await fixture.volume();
    await fixture.patch(VOLUME, 1, { lifecycle: DETACHED });
    expect(await outcome(fixture.patch(VOLUME, 1, { lifecycle: DELETING }))).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).volume.lifecycle).toEqual(DETACHED);
  });

  test('a commit that changes only replicas also counts its guard up', async () => {
    await fixture.volume();
    const commit = (id: string) =>
      fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
        {
          kind: 'replica.create',
          replica: aReplica({ id: asId(id), volumeId: VOLUME }),
          booking: undefined,
        },
      ]);
    expect(await outcome(commit(testId(101)))).toBe('done');
    expect(await outcome(commit(testId(102)))).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).replicas).toHaveLength(1);
  });

  test('of two that attach at once one wins', async () => {
    await fixture.volume({ lifecycle: DETACHED });
    const attach = (node: number) =>
      fixture.patch(VOLUME, 1, { lifecycle: attachingOn(testId(node)), epoch: 1 });
    const outcomes = await Promise.all([outcome(attach(301)), outcome(attach(302))]);
    expect(outcomes.sort()).toEqual(['done', 'store.conflict']);
    expect((await fixture.load(VOLUME)).volume).toMatchObject({ epoch: 1, version: 2 });
  });

  test('a commit applies as a whole or not at all', async () => {
    await fixture.volume();
    await fixture.under.takeWakeUps();
    const half = fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
      { kind: 'volume.patch', volumeId: VOLUME, patch: { lifecycle: DETACHED } },
      { kind: 'replica.patch', replicaId: REPLICA, patch: { provisioned: true } },
    ]);
    expect(await outcome(half)).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).volume).toMatchObject({
      lifecycle: { state: 'creating' },
      version: 1,
    });
    expect(await fixture.under.takeWakeUps()).toEqual([]);
  });

  test('a name is taken once per project', async () => {
    await fixture.volume();
    expect(await outcome(fixture.volume({ id: asId(testId(2)) }))).toBe('volume.name_taken');
  });

  test('a snapshot reads as it was stored, changes by what a patch names, and goes', async () => {
    const snapshot = aSnapshot({
      volumeId: VOLUME,
      parentId: asId(testId(602)),
      sizeBytes: 4096,
      checksums: [{ replicaId: REPLICA, checksum: 'ab' }],
      hashRequest: { requestedAt: NOON, force: true, automatic: true, startedEpoch: 3 },
      trouble: { message: 'busy', at: NOON },
    });
    await fixture.volume({}, [{ kind: 'snapshot.create', snapshot }]);
    expect((await fixture.load(VOLUME)).snapshots).toEqual([snapshot]);
    const patch = { state: 'removed' as const, hashRequest: undefined };
    const commit = (change: Change, ifVersion: number) =>
      fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion }, [change]);
    await commit({ kind: 'snapshot.patch', snapshotId: SNAPSHOT, patch }, 1);
    expect((await fixture.load(VOLUME)).snapshots).toEqual([{ ...snapshot, ...patch }]);
    await commit({ kind: 'snapshot.delete', snapshotId: SNAPSHOT }, 2);
    expect((await fixture.load(VOLUME)).snapshots).toEqual([]);
    const again = commit({ kind: 'snapshot.delete', snapshotId: SNAPSHOT }, 3);
    expect(await outcome(again)).toBe('store.conflict');
  });

  test('a name is taken once among the live snapshots of a volume', async () => {
    await fixture.volume({}, [{ kind: 'snapshot.create', snapshot: aSnapshot({ volumeId: VOLUME }) }]);
    const take = (part: Partial<Snapshot> & { id: Snapshot['id'] }) =>
      outcome(
        fixture.store.commit({ kind: 'new' }, [
          { kind: 'snapshot.create', snapshot: aSnapshot({ volumeId: VOLUME, ...part }) },
        ]),
      );
    expect(await take({ id: asId(testId(602)) })).toBe('snapshot.name_taken');
    expect(await take({ id: asId(testId(603)), state: 'removed' })).toBe('done');
    expect(await take({ id: asId(testId(604)), origin: 'system' })).toBe('done');
  });

  test('a volume goes only after its replicas, and takes its snapshots and rebuilds along', async () => {
    await fixture.volume({}, [
      { kind: 'replica.create', replica: aReplica({ volumeId: VOLUME }), booking: undefined },
      {
        kind: 'snapshot.create',
        snapshot: aSnapshot({ volumeId: VOLUME, name: 's1', origin: 'system' }),
      },
    ]);
    expect((await fixture.load(VOLUME)).snapshots.map(({ name }) => name)).toEqual(['s1']);
    const remove = () =>
      fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
        { kind: 'volume.delete', volumeId: VOLUME },
      ]);
    expect(await outcome(remove())).toBe('store.conflict');
    await fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
      { kind: 'replica.delete', replicaId: REPLICA },
      { kind: 'volume.delete', volumeId: VOLUME },
    ]);
    expect(await fixture.store.loadVolume(VOLUME)).toBeUndefined();
  });

  test('a commit wakes what it touched, once each', async () => {
    const { clusterId } = fixture.tenant;
    await fixture.volume();
    const wake = { kind: 'volume', volumeId: VOLUME };
    expect(await fixture.under.takeWakeUps()).toEqual([wake]);
    await fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
      { kind: 'volume.patch', volumeId: VOLUME, patch: { lifecycle: DETACHED } },
      { kind: 'rebuild.create', rebuild: aRebuild({ clusterId, volumeId: VOLUME }) },
    ]);
    const woken = await fixture.under.takeWakeUps();
    expect(woken).toHaveLength(2);
    expect(woken).toEqual(expect.arrayContaining([wake, { kind: 'cluster', clusterId }]));
  });

  test('of two admissions from one view one wins, and a state that moved on is not overwritten', async () => {
    const { clusterId } = fixture.tenant;
    const limits = { bandwidthBytesPerSecond: 3 * GIB, grantedBytesPerSecond: 2 * GIB };
    const tuned = { paused: true, bandwidthBytesPerSecond: undefined };
    const rebuild = aRebuild({ clusterId, volumeId: VOLUME, paused: true, tuned, ...limits });
    await fixture.volume({}, [{ kind: 'rebuild.create', rebuild }]);
    const { version, queued, running } = await fixture.store.loadAdmissions(clusterId, {
      now: NOON,
      limit: 10,
    });
    expect([queued, running]).toEqual([[rebuild], []]);
    const admit = () =>
      fixture.store.commit({ kind: 'admission', clusterId, ifVersion: version }, [
        { kind: 'rebuild.patch', rebuildId: REBUILD, ifState: 'queued', patch: { state: 'running' } },
      ]);
    const outcomes = await Promise.all([outcome(admit()), outcome(admit())]);
    expect(outcomes.sort()).toEqual(['done', 'store.conflict']);

    const cancel = fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: 1 }, [
      { kind: 'rebuild.patch', rebuildId: REBUILD, ifState: 'queued', patch: { state: 'cancelled' } },
    ]);
    expect(await outcome(cancel)).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).rebuilds[0]?.state).toBe('running');
  });

  test('a volume says until its next start that the database was restored', async () => {
    await fixture.volume({ restoredAt: NOON });
    expect((await fixture.load(VOLUME)).volume.restoredAt).toEqual(NOON);
    await fixture.patch(VOLUME, 1, { restoredAt: undefined });
    expect((await fixture.load(VOLUME)).volume.restoredAt).toBeUndefined();
  });

  test('a record is confirmed for the grant that holds, and for callers that name none', async () => {
    const [granted, other] = [testId(701), testId(702)];
    const record = copyRecord(3, 1, [REPLICA, asId(testId(102))]);
    await fixture.volume({ epoch: 3, grantId: granted, record });
    expect((await fixture.load(VOLUME)).volume.grantId).toBe(granted);
    const smaller = copyRecord(3, 2, [REPLICA], { epoch: 3, dataGeneration: 1 });
    expect(await outcome(fixture.store.confirmRecord(VOLUME, smaller, other))).toBe('engine.stale_epoch');
    await fixture.store.confirmRecord(VOLUME, smaller, granted);
    expect((await fixture.load(VOLUME)).volume.record).toEqual(smaller);
    await fixture.store.confirmRecord(VOLUME, copyRecord(3, 3, [REPLICA]));
  });

  test('a record is confirmed for the node that holds the volume, with members that are known', async () => {
    const nodeId = await fixture.node();
    const [other, gone] = [asId<NodeId>(testId(9)), asId<ReplicaId>(testId(103))];
    const lifecycle = attachedOn(nodeId);
    const replica = aReplica({ id: REPLICA, volumeId: VOLUME });
    const before = copyRecord(3, 1, [REPLICA, gone]);
    await fixture.volume({ epoch: 3, record: before, lifecycle }, [
      { kind: 'replica.create', replica, booking: undefined },
    ]);
    const confirm = (members: ReplicaId[], generation: number, askedBy: NodeId) =>
      outcome(fixture.store.confirmRecord(VOLUME, copyRecord(3, generation, members), undefined, askedBy));
    expect(await confirm([REPLICA], 2, other)).toBe('engine.stale_epoch');
    const invented = asId<ReplicaId>(testId(104));
    expect(await confirm([REPLICA, invented], 2, nodeId)).toBe('engine.record_refused');
    expect(await confirm([REPLICA, gone], 2, nodeId)).toBe('done');
    expect(await confirm([REPLICA], 3, nodeId)).toBe('done');
    expect(await confirm([gone], 4, nodeId)).toBe('engine.record_refused');
  });

  test('a record is confirmed for the current epoch only, and again when it is repeated', async () => {
    await fixture.volume({ epoch: 3, record: copyRecord(3, 1, [REPLICA, asId(testId(102))]) });
    const smaller = copyRecord(3, 2, [REPLICA]);
    await fixture.store.confirmRecord(VOLUME, smaller);
    await fixture.store.confirmRecord(VOLUME, smaller);
    expect((await fixture.load(VOLUME)).volume.record).toEqual(smaller);
    for (const stale of [
      copyRecord(2, 9, [REPLICA]),
      copyRecord(3, 1, [REPLICA]),
      copyRecord(4, 1, [REPLICA]),
    ]) {
      expect(await outcome(fixture.store.confirmRecord(VOLUME, stale))).toBe('engine.stale_epoch');
    }
  });
}
