import { addDisk } from '@holdfast/control/use-cases/add-disk.js';
import { removeDisk } from '@holdfast/control/use-cases/remove-disk.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { asId, type DiskId, type NodeId, type VolumeId } from '@holdfast/core/model/ids.js';
import { expect, test } from '@jest/globals';
import { aDiskReport, aHeartbeat, aReplica, NOON, secondsAfterNoon, testId } from './builders.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const ADDED = asId<DiskId>(testId(601));
const FOUND = asId<DiskId>(testId(602));
const VOLUME = asId<VolumeId>(testId(1));
const NEW_DISK = {
  path: '/mnt/disk-2',
  name: undefined,
  type: 'filesystem' as const,
  sizeBytes: 20 * GIB,
  tags: ['ssd'],
  allowScheduling: true,
  storageReservedBytes: GIB,
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function diskWishesContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const ports = () => {
    return {
      store: fixture.store,
      clock: { now: () => secondsAfterNoon(10) },
      random: { id: () => ADDED, secret: () => 'secret' },
    };
  };
  const clusterId = () => fixture.tenant.clusterId;
  const add = (nodeId: NodeId, part: Partial<typeof NEW_DISK> = {}) =>
    addDisk(ports(), { clusterId: clusterId(), nodeId, disk: { ...NEW_DISK, ...part } });
  const remove = (diskId: DiskId, orphans = 0) =>
    removeDisk(ports(), { clusterId: clusterId(), diskId, orphans });
  /** A report of node-1 with these disks, and the wishes that its agent gets in return. */
  const beat = async (...disks: ReturnType<typeof aDiskReport>[]) =>
    (await fixture.store.recordHeartbeat(clusterId(), aHeartbeat('node-1', { disks }), secondsAfterNoon(20)))
      .disks;
  const rows = async () => (await fixture.store.loadFleet(clusterId())).disks.map(({ id }) => id);
  /** Ready, as the cluster's reconciler would have found it. */
  const ready = async (nodeId: NodeId) => {
    const conditions = [
      { type: 'Ready' as const, status: 'True' as const, reason: '', message: '', lastTransitionAt: NOON },
    ];
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { conditions } }]);
  };

  test('an added disk waits for its agent, which is told of it until it lets go', async () => {
    const nodeId = await fixture.node();
    await add(nodeId);
    const pending = await fixture.disk(ADDED);
    expect(pending).toMatchObject({ name: 'disk-2', tags: ['ssd'], storageReservedBytes: GIB, nodeId });
    expect(conditionOf(pending.conditions, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'DiskPending',
    });
    const wish = {
      diskId: ADDED,
      name: 'disk-2',
      path: '/mnt/disk-2',
      type: 'filesystem',
      sizeBytes: 20 * GIB,
    };
    expect(await beat(aDiskReport(DISK))).toEqual({ add: [wish], remove: [] });
    await beat(aDiskReport(DISK), aDiskReport(ADDED, { name: 'disk-2', path: '/mnt/disk-2' }));
    const there = await fixture.disk(ADDED);
    expect(conditionOf(there.conditions, 'Ready')).toMatchObject({ status: 'True' });
    expect(there).toMatchObject({ tags: ['ssd'], storageReservedBytes: GIB });
  });

  test('where its agent finds another disk at the path, that one stands for it', async () => {
    await add(await fixture.node());
    const found = { ...aDiskReport(FOUND, { name: 'disk-2', path: '/mnt/disk-2' }), addedAs: ADDED };
    expect(await beat(aDiskReport(DISK), found)).toBeUndefined();
    expect((await rows()).sort()).toEqual([DISK, FOUND].sort());
  });

  test('the same path or name on one node is refused, and so is a path that climbs', async () => {
    const nodeId = await fixture.node();
    await add(nodeId);
    const known = { ...NEW_DISK, name: undefined };
    const another = {
      store: fixture.store,
      clock: ports().clock,
      random: { ...ports().random, id: () => FOUND },
    };
    const again = (path: string) =>
      outcome(addDisk(another, { clusterId: clusterId(), nodeId, disk: { ...known, path } }));
    expect(await again('/mnt/disk-2')).toBe('disk.exists');
    expect(await again('/srv/disk-2')).toBe('disk.exists');
    for (const path of ['mnt/x', '/mnt/../etc', '/mnt//x', '/mnt/x/', '/mnt/\nx']) {
      expect(await again(path)).toBe('request.invalid');
    }
    expect(await rows()).toHaveLength(2);
  });

  test('a disk that is taken off takes no booking, and goes when its agent reports it no more', async () => {
    const nodeId = await fixture.node();
    await ready(nodeId);
    await remove(DISK);
    await remove(DISK);
    expect(await fixture.disk()).toMatchObject({ allowScheduling: false });
    const { settingsVersion } = await fixture.store.loadFleet(clusterId());
    const booking = { diskId: DISK, sizeBytes: GIB, limitBytes: GIB, ifSettingsVersion: settingsVersion };
    const replica = aReplica({ volumeId: VOLUME, nodeId, diskId: DISK });
    const booked = fixture.volume({}, [{ kind: 'replica.create', replica, booking }]);
    expect(await outcome(booked)).toBe('store.conflict');
    expect(await beat(aDiskReport(DISK))).toEqual({ add: [], remove: [DISK] });
    expect(await beat()).toBeUndefined();
    expect(await rows()).toEqual([]);
  });

  test('a disk with replicas or orphans is kept', async () => {
    const nodeId = await fixture.node();
    const { settingsVersion } = await fixture.store.loadFleet(clusterId());
    const booking = { diskId: DISK, sizeBytes: GIB, limitBytes: GIB, ifSettingsVersion: settingsVersion };
    const replica = aReplica({ volumeId: VOLUME, nodeId, diskId: DISK });
    expect(await outcome(remove(DISK, 1))).toBe('disk.in_use');
    await fixture.volume({}, [{ kind: 'replica.create', replica, booking }]);
    expect(await outcome(remove(DISK))).toBe('disk.in_use');
    const remains = fixture.store.commit({ kind: 'new' }, [{ kind: 'disk.remove', diskId: DISK, at: NOON }]);
    expect(await outcome(remains)).toBe('store.conflict');
    expect(await rows()).toEqual([DISK]);
  });

  test('a disk that its agent does not report any more is not ready, until it is reported again', async () => {
    await fixture.node();
    await fixture.store.recordHeartbeat(clusterId(), aHeartbeat('node-2', { disks: [] }), NOON);
    const readiness = async () => conditionOf((await fixture.disk()).conditions, 'Ready');
    await beat();
    expect(await readiness()).toMatchObject({ status: 'False', reason: 'DiskNotReported' });
    await beat(aDiskReport(DISK));
    expect(await readiness()).toMatchObject({ status: 'True' });
    await beat();
    const elsewhere = aHeartbeat('node-2', { disks: [aDiskReport(DISK)] });
    const { nodeId } = await fixture.store.recordHeartbeat(clusterId(), elsewhere, secondsAfterNoon(30));
    expect(await fixture.disk()).toMatchObject({ nodeId });
  });

  test('the disk of a node that does not answer goes at once', async () => {
    await fixture.node();
    await remove(DISK);
    expect(await rows()).toEqual([]);
  });
}
