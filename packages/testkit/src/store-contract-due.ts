import type { Change, FanOutBatch } from '@holdfast/control/ports/store.js';
import { asId, type DiskId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { Volume, VolumeSpec } from '@holdfast/core/model/volume.js';
import type { Lane } from '@holdfast/core/policy/work-lane.js';
import { expect, test } from '@jest/globals';
import {
  A_SPEC,
  aDiskReport,
  aHeartbeat,
  anEngineReport,
  anIdleVolume,
  aRebuild,
  aReplica,
  aSnapshot,
  NOON,
  testId,
} from './builders.js';
import { attachedOn } from './lifecycle-builder.js';
import { DISK, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';
import { aFill } from './task-builder.js';

const VOLUME = asId<VolumeId>(testId(1));
const LATER = new Date(NOON.getTime() + 5_000);
const volumeIdOf = (number: number) => asId<VolumeId>(testId(number));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function dueContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const idle = (part: Partial<Volume> = {}) => fixture.volume(anIdleVolume(fixture.tenant, part));
  const dueIds = async (now = NOON) =>
    (await fixture.store.listDueVolumes({ now, limit: 100 })).map(({ volumeId }) => volumeId);
  const record = async (at: Date | undefined, volumeId = VOLUME) => {
    const { due } = await fixture.load(volumeId);
    return fixture.store.recordDue(volumeId, { at, ifMarks: due.marks });
  };
  /** Nothing is due, and no fan-out and no wake-up is left. */
  const calmDown = async (...volumeIds: VolumeId[]) => {
    await fanOutAll();
    for (const volumeId of volumeIds) expect(await record(undefined, volumeId)).toBe(true);
    await fixture.under.takeWakeUps();
    expect(await dueIds()).toEqual([]);
  };
  const setSpec = (volumeId: VolumeId, part: Partial<VolumeSpec>) =>
    fixture.store.commit({ kind: 'new' }, [
      { kind: 'volume.patch', volumeId, patch: { spec: { ...A_SPEC, ...part } } },
    ]);
  const fanOutAll = async (limit = 100): Promise<FanOutBatch[]> => {
    const batches: FanOutBatch[] = [];
    for (;;) {
      const batch = await fixture.store.fanOut(fixture.tenant.clusterId, limit);
      if (batch === undefined) return batches;
      batches.push(batch);
    }
  };
  const wokenVolumes = async () =>
    (await fixture.under.takeWakeUps())
      .flatMap((wakeUp) => (wakeUp.kind === 'volume' ? [wakeUp.volumeId] : []))
      .sort();
  /** Volumes 1 to `count`, each with a replica on the node. */
  const volumesOn = async (nodeId: NodeId, count: number, diskId: DiskId = DISK) => {
    const volumeIds = Array.from({ length: count }, (_, index) => volumeIdOf(index + 1));
    for (const [index, id] of volumeIds.entries()) {
      const replica = aReplica({ id: asId(testId(101 + index)), volumeId: id, nodeId, diskId });
      await fixture.volume(anIdleVolume(fixture.tenant, { id, name: `volume-${index}` }), [
        { kind: 'replica.create', replica, booking: undefined },
      ]);
    }
    return volumeIds;
  };
  const cordon = (nodeId: NodeId) =>
    fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { cordoned: true } }]);

  test("a commit of the volume's own reconciler marks it, and wakes others only", async () => {
    await idle();
    const { volume } = await fixture.load(VOLUME);
    await calmDown(VOLUME);
    const { clusterId } = fixture.tenant;
    const guard = { kind: 'volume', volumeId: VOLUME, ifVersion: volume.version } as const;
    const rebuild = aRebuild({ clusterId, volumeId: VOLUME });
    await fixture.store.commit({ ...guard, looksAgain: true }, [{ kind: 'rebuild.create', rebuild }]);
    expect(await dueIds()).toEqual([VOLUME]);
    expect(await fixture.under.takeWakeUps()).toEqual([{ kind: 'cluster', clusterId }]);
    const next = { ...guard, ifVersion: volume.version + 1 };
    await fixture.store.commit(next, [
      { kind: 'rebuild.patch', rebuildId: rebuild.id, patch: { percent: 1 } },
    ]);
    expect(await wokenVolumes()).toEqual([VOLUME]);
  });

  test('a new volume is due at once, whatever the time is, and no more once that is recorded', async () => {
    await idle();
    expect(await dueIds(new Date(0))).toEqual([VOLUME]);
    expect(await record(undefined)).toBe(true);
    expect(await dueIds(new Date(8e12))).toEqual([]);
    expect((await fixture.load(VOLUME)).due.at).toBeUndefined();
  });

  test('a volume is due from the moment that was recorded, and its version stays', async () => {
    await idle();
    await record(LATER);
    expect(await dueIds(new Date(LATER.getTime() - 1))).toEqual([]);
    expect(await dueIds(LATER)).toEqual([VOLUME]);
    const { volume, due } = await fixture.load(VOLUME);
    expect([volume.version, due.at]).toEqual([1, LATER]);
  });

  test('every commit that touches a volume marks it, also through its replicas, snapshots and record', async () => {
    await idle({ epoch: 3 });
    const replica = aReplica({ volumeId: VOLUME });
    const snapshot = aSnapshot({ volumeId: VOLUME });
    for (const change of [
      { kind: 'volume.patch', volumeId: VOLUME, patch: { writtenBytes: 0 } },
      { kind: 'replica.create', replica, booking: undefined },
      { kind: 'replica.patch', replicaId: replica.id, patch: { provisioned: true } },
      { kind: 'snapshot.create', snapshot },
      { kind: 'snapshot.delete', snapshotId: snapshot.id },
      { kind: 'replica.delete', replicaId: replica.id },
    ] as const) {
      await calmDown(VOLUME);
      await fixture.store.commit({ kind: 'new' }, [change]);
      expect([change.kind, await dueIds()]).toEqual([change.kind, [VOLUME]]);
      expect(await wokenVolumes()).toEqual([VOLUME]);
    }
    await calmDown(VOLUME);
    const confirmed = { epoch: 3, dataGeneration: 1, members: [replica.id] };
    await fixture.store.confirmRecord(VOLUME, confirmed);
    expect(await dueIds()).toEqual([VOLUME]);
  });

  test('a commit that fails marks nothing', async () => {
    await idle();
    await calmDown(VOLUME);
    const stale = fixture.patch(VOLUME, 7, { writtenBytes: 0 });
    await expect(stale).rejects.toMatchObject({ code: 'store.conflict' });
    expect(await dueIds()).toEqual([]);
  });

  test('a mark that was set after the volume was loaded is not cleared, not even in the same moment', async () => {
    await idle();
    const { due } = await fixture.load(VOLUME);
    const marks = await Promise.all(
      [1, 2].map((ifVersion) => fixture.patch(VOLUME, ifVersion, {}).catch(() => undefined)),
    );
    expect(marks).toHaveLength(2);
    expect(await fixture.store.recordDue(VOLUME, { at: undefined, ifMarks: due.marks })).toBe(false);
    expect(await dueIds()).toEqual([VOLUME]);
    expect(await record(LATER)).toBe(true);
    expect(await dueIds()).toEqual([]);
  });

  test('a recorded time does not undo another reconciler, and a volume that is gone records nothing', async () => {
    await idle();
    const { due } = await fixture.load(VOLUME);
    expect(await fixture.store.recordDue(VOLUME, { at: LATER, ifMarks: due.marks })).toBe(true);
    // Both had loaded the same: the later answer is as good, and no mark is lost.
    expect(await fixture.store.recordDue(VOLUME, { at: undefined, ifMarks: due.marks })).toBe(true);
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'volume.delete', volumeId: VOLUME }]);
    expect(await fixture.store.recordDue(VOLUME, { at: LATER, ifMarks: due.marks })).toBe(false);
    expect(await dueIds(LATER)).toEqual([]);
  });

  test('pages follow each other in the order of the times, then of the ids', async () => {
    const times: [number, Date][] = [
      [4, NOON],
      [2, LATER],
      [3, NOON],
      [1, new Date(LATER.getTime() + 1)],
    ];
    for (const [number, at] of times) {
      await idle({ id: volumeIdOf(number), name: `volume-${number}` });
      await record(at, volumeIdOf(number));
    }
    const first = await fixture.store.listDueVolumes({ now: LATER, limit: 2 });
    expect(first).toMatchObject([
      { volumeId: testId(3), at: NOON },
      { volumeId: testId(4), at: NOON },
    ]);
    const [, after] = first;
    if (after === undefined) throw new Error('the page was too short');
    const second = await fixture.store.listDueVolumes({ now: LATER, limit: 2, after });
    expect(second).toMatchObject([{ volumeId: testId(2), at: LATER }]);
  });

  test('each lane lists its own, with the party of each', async () => {
    const nodeId = await fixture.node();
    const volumes: Partial<Volume>[] = [
      { lifecycle: attachedOn(nodeId), epoch: 2 },
      { lifecycle: { state: 'detached' }, robustness: 'degraded' },
      { lifecycle: { state: 'detached' }, robustness: 'healthy' },
      { lifecycle: { state: 'deleting', requestedAt: NOON, grant: undefined } },
      { lifecycle: { state: 'creating', request: undefined } },
    ];
    for (const [index, part] of volumes.entries())
      await idle({ id: volumeIdOf(index + 1), name: `volume-${index}`, ...part });
    const { organizationId } = fixture.tenant;
    const listed = async (lane: Lane) =>
      (await fixture.store.listDueVolumes({ now: NOON, limit: 100, lane })).map(({ volumeId, party }) => ({
        volumeId,
        party,
      }));
    const due = (number: number, state: string) => ({
      volumeId: testId(number),
      party: `${organizationId} ${state}`,
    });
    expect(await listed('safety')).toEqual([due(1, 'attached'), due(2, 'detached')]);
    expect(await listed('request')).toEqual([due(3, 'detached'), due(4, 'deleting')]);
    expect(await listed('bulk')).toEqual([due(5, 'creating')]);
  });

  test('a heartbeat marks the volumes of which it brings news, and not the others', async () => {
    const nodeId = await fixture.node();
    const other = volumeIdOf(2);
    await idle({ lifecycle: attachedOn(nodeId), epoch: 2 });
    await idle({ id: other, name: 'other' });
    await calmDown(VOLUME, other);
    const beat = (part: Partial<Parameters<typeof anEngineReport>[0]> = {}) =>
      fixture.store.recordHeartbeat(
        fixture.tenant.clusterId,
        aHeartbeat('node-1', { engines: [anEngineReport({ volumeId: VOLUME, epoch: 2, ...part })] }),
        LATER,
      );
    await beat();
    expect(await dueIds()).toEqual([VOLUME]);
    await calmDown(VOLUME);
    await beat({ writtenBytes: 4096 });
    expect(await dueIds()).toEqual([]);
    const durable = { epoch: 2, dataGeneration: 1 };
    await beat({ record: { epoch: 2, dataGeneration: 1, members: [], durable } });
    expect(await dueIds()).toEqual([VOLUME]);
  });

  test('a mode is news when the engine has not reported it before, whatever has been concluded of the replica', async () => {
    const nodeId = await fixture.node();
    const replica = aReplica({ volumeId: VOLUME, nodeId, diskId: DISK });
    await fixture.volume(anIdleVolume(fixture.tenant, { lifecycle: attachedOn(nodeId), epoch: 2 }), [
      { kind: 'replica.create', replica, booking: undefined },
    ]);
    const beat = (mode: 'RW' | 'ERR' = 'RW') => {
      const replicas = [{ replicaId: replica.id, mode, reason: '' }];
      const engines = [anEngineReport({ volumeId: VOLUME, epoch: 2, replicas })];
      return fixture.store.recordHeartbeat(
        fixture.tenant.clusterId,
        aHeartbeat('node-1', { engines }),
        LATER,
      );
    };
    await beat();
    expect(await dueIds()).toEqual([VOLUME]);
    await calmDown(VOLUME);
    await beat();
    expect(await dueIds()).toEqual([]);
    await fixture.store.commit({ kind: 'new' }, [
      { kind: 'replica.patch', replicaId: replica.id, patch: { mode: 'ERR' } },
    ]);
    expect(await dueIds()).toEqual([VOLUME]);
    await calmDown(VOLUME);
    await beat();
    expect(await dueIds()).toEqual([]);
    await beat('ERR');
    expect(await dueIds()).toEqual([VOLUME]);
  });

  test('the end of a filling, or of its volume, marks the volume that it was filled from', async () => {
    const source = volumeIdOf(2);
    await idle({ id: source, name: 'source' });
    const snapshot = aSnapshot({ volumeId: source });
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'snapshot.create', snapshot }]);
    const task = aFill({ sourceVolumeId: source, snapshotId: snapshot.id });
    const second = volumeIdOf(3);
    await idle({ task });
    await idle({ id: second, name: 'second', task });
    await calmDown(VOLUME, source, second);
    await fixture.patch(VOLUME, 1, { task: undefined });
    expect(await dueIds()).toEqual([VOLUME, source]);
    await calmDown(VOLUME, source);
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'volume.delete', volumeId: second }]);
    expect(await dueIds()).toEqual([source]);
  });

  test('a change of a node marks and wakes its volumes in batches, and those that wait for a node', async () => {
    const nodeId = await fixture.node();
    const elsewhereId = await fixture.node('node-2', asId(testId(502)));
    const [first, second, third] = await volumesOn(nodeId, 3);
    const [attached, waiting, elsewhere] = [volumeIdOf(4), volumeIdOf(5), volumeIdOf(6)];
    await idle({ id: attached, name: 'attached', lifecycle: attachedOn(nodeId) });
    const request = { nodeId: elsewhereId, requestedAt: NOON };
    await idle({
      id: waiting,
      name: 'waiting',
      lifecycle: { state: 'attaching', request, grant: undefined },
    });
    await idle({ id: elsewhere, name: 'elsewhere', lifecycle: attachedOn(elsewhereId) });
    const all = [first, second, third, attached, waiting].flatMap((id) => (id === undefined ? [] : [id]));
    await calmDown(...all, elsewhere);

    await cordon(nodeId);
    expect(await dueIds()).toEqual([]);
    expect(await fixture.under.takeWakeUps()).toEqual([
      { kind: 'cluster', clusterId: fixture.tenant.clusterId },
    ]);
    const batch = () => fixture.store.fanOut(fixture.tenant.clusterId, 2);
    expect(await batch()).toEqual({ of: 'node', isDone: false });
    expect(await dueIds()).toEqual(all.slice(0, 2));
    expect(await wokenVolumes()).toEqual(all.slice(0, 2));
    expect(await batch()).toEqual({ of: 'node', isDone: false });
    expect(await batch()).toEqual({ of: 'node', isDone: true });
    expect(await dueIds()).toEqual(all);
    expect(await batch()).toBeUndefined();
  });

  test.each<[string, (volumeId: VolumeId) => Promise<unknown>]>([
    ['the cluster is balanced', () => fixture.under.setSetting('replica-auto-balance', 'least-effort')],
    [
      'copies follow their selectors',
      () => fixture.under.setSetting('replica-relocate-on-selector-change', true),
    ],
    ['a volume of it is balanced', (id) => setSpec(id, { replicaAutoBalance: 'best-effort' })],
    ['a volume of it has locality', (id) => setSpec(id, { dataLocality: 'best-effort' })],
  ])('a node that opens marks all volumes of its cluster where %s', async (_, mayMove) => {
    const nodeId = await fixture.node();
    const [first = VOLUME] = await volumesOn(nodeId, 1);
    const elsewhere = volumeIdOf(2);
    await idle({ id: elsewhere, name: 'elsewhere' });
    await calmDown(first, elsewhere);
    const open: Change = { kind: 'node.patch', nodeId, patch: { cordoned: false } };
    await fixture.store.commit({ kind: 'new' }, [open]);
    expect(await fanOutAll()).toEqual([{ of: 'node', isDone: true }]);

    await mayMove(elsewhere);
    await calmDown(first, elsewhere);
    await fixture.store.commit({ kind: 'new' }, [open]);
    expect(await fanOutAll()).toEqual([
      { of: 'node', isDone: true },
      { of: 'cluster', isDone: true },
    ]);
    expect(await dueIds()).toEqual([first, elsewhere]);
  });

  test('a subject that changes during its fan-out is walked once more, from the first volume', async () => {
    const nodeId = await fixture.node();
    const volumeIds = await volumesOn(nodeId, 3);
    await calmDown(...volumeIds);
    await cordon(nodeId);
    await cordon(nodeId);
    const batch = () => fixture.store.fanOut(fixture.tenant.clusterId, 1);
    expect(await batch()).toEqual({ of: 'node', isDone: false });
    await cordon(nodeId);
    for (const volumeId of volumeIds) await record(undefined, volumeId);
    // Two more volumes, and the end.
    for (let count = 0; count < 3; count += 1) expect(await batch()).toEqual({ of: 'node', isDone: false });
    expect(await dueIds()).toEqual(volumeIds.slice(1));
    expect(await fanOutAll(2)).toEqual([
      { of: 'node', isDone: false },
      { of: 'node', isDone: true },
    ]);
    expect(await dueIds()).toEqual(volumeIds);
  });

  test('of a disk only what it is used for concerns its volumes, and nodes and disks come before settings', async () => {
    const nodeId = await fixture.node();
    const [volumeId = VOLUME] = await volumesOn(nodeId, 1);
    const other = volumeIdOf(2);
    await idle({ id: other, name: 'other' });
    await calmDown(volumeId, other);
    const patch = (part: Partial<Parameters<typeof diskPatch>[0]>) =>
      fixture.store.commit({ kind: 'new' }, [diskPatch(part)]);
    await patch({ conditions: [] });
    expect(await fanOutAll()).toEqual([]);
    await fixture.under.setSetting('stale-replica-timeout', 5);
    await patch({ allowScheduling: false, evictionRequested: true });
    const { clusterId } = fixture.tenant;
    expect(await fixture.store.fanOut(clusterId, 100)).toEqual({ of: 'disk', isDone: true });
    expect(await dueIds()).toEqual([volumeId]);
    expect(await fixture.store.fanOut(clusterId, 100)).toEqual({ of: 'cluster', isDone: true });
    expect(await dueIds()).toEqual([volumeId, other]);
  });

  test('a disk that is lost or comes back marks its volumes, and so does a new boot of their agent', async () => {
    const nodeId = await fixture.node();
    const [volumeId = VOLUME] = await volumesOn(nodeId, 1);
    await calmDown(volumeId);
    const beat = (ready: boolean, bootId = testId(401)) =>
      fixture.store.recordHeartbeat(
        fixture.tenant.clusterId,
        aHeartbeat('node-1', { node: { bootId }, disks: [aDiskReport(DISK, { ready })] }),
        LATER,
      );
    await beat(false);
    expect(await dueIds()).toEqual([volumeId]);
    await calmDown(volumeId);
    await beat(false);
    expect(await dueIds()).toEqual([]);
    await beat(true);
    expect(await dueIds()).toEqual([volumeId]);
    await calmDown(volumeId);
    await beat(true, testId(402));
    expect(await fanOutAll()).toEqual([{ of: 'node', isDone: true }]);
    expect(await dueIds()).toEqual([volumeId]);
  });
}

function diskPatch(
  patch: Extract<Parameters<StoreFixture['store']['commit']>[1][number], { kind: 'disk.patch' }>['patch'],
) {
  return { kind: 'disk.patch' as const, diskId: DISK, patch };
}
