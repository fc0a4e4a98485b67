import { GIB } from '@holdfast/core/model/bytes.js';
import { asId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { expect, test } from '@jest/globals';
import { aReplica, NOON, testId } from './builders.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function bookingContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);

  async function book(replica: number, nodeId: NodeId, limitBytes: number, ifSettingsVersion?: number) {
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    return outcome(
      fixture.store.commit({ kind: 'new' }, [
        {
          kind: 'replica.create',
          replica: aReplica({ id: asId(testId(replica)), volumeId: VOLUME, nodeId, diskId: DISK }),
          booking: {
            diskId: DISK,
            sizeBytes: GIB,
            limitBytes,
            ifSettingsVersion: ifSettingsVersion ?? settingsVersion,
          },
        },
      ]),
    );
  }

  test('books up to the limit and not past it', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    expect(await book(101, nodeId, 2 * GIB)).toBe('done');
    expect(await book(102, nodeId, 2 * GIB)).toBe('done');
    expect(await book(103, nodeId, 2 * GIB)).toBe('store.conflict');
    expect((await fixture.disk()).storageScheduledBytes).toBe(2 * GIB);
    expect((await fixture.load(VOLUME)).replicas).toHaveLength(2);
  });

  test('of many that book the last room at once one gets it', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    const outcomes = await Promise.all([101, 102, 103, 104].map((id) => book(id, nodeId, GIB)));
    expect(outcomes.filter((result) => result === 'done')).toHaveLength(1);
    expect((await fixture.disk()).storageScheduledBytes).toBe(GIB);
  });

  test('a limit from older settings is refused', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    await fixture.under.setSetting('storage-over-provisioning-percentage', 50);
    const fleet = await fixture.store.loadFleet(fixture.tenant.clusterId);
    expect(fleet.settings['storage-over-provisioning-percentage']).toBe(50);
    expect(fleet.settingsVersion).toBeGreaterThan(settingsVersion);
    expect(await book(101, nodeId, 9 * GIB, settingsVersion)).toBe('store.conflict');
    expect(await book(101, nodeId, 9 * GIB)).toBe('done');
  });

  test('a limit from an older state of the disk is refused', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    const before = await fixture.disk();
    await fixture.store.commit({ kind: 'new' }, [
      { kind: 'disk.patch', diskId: DISK, patch: { storageReservedBytes: 90 * GIB } },
    ]);
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const replica = aReplica({ volumeId: VOLUME, nodeId, diskId: DISK });
    const booking = {
      diskId: DISK,
      sizeBytes: GIB,
      limitBytes: 50 * GIB,
      ifSettingsVersion: settingsVersion,
      ifDiskVersion: before.version,
    };
    const commit = fixture.store.commit({ kind: 'new' }, [{ kind: 'replica.create', replica, booking }]);
    expect(await outcome(commit)).toBe('store.conflict');
  });

  test('a replica that grows books the difference up to the limit, and gives back what it had in the end', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    await book(101, nodeId, GIB);
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const replicaId = asId<ReplicaId>(testId(101));
    const grow = (limitBytes: number) =>
      outcome(
        fixture.store.commit({ kind: 'new' }, [
          {
            kind: 'replica.resize',
            replicaId,
            sizeBytes: 3 * GIB,
            booking: { diskId: DISK, sizeBytes: 2 * GIB, limitBytes, ifSettingsVersion: settingsVersion },
          },
        ]),
      );
    expect(await grow(3 * GIB - 1)).toBe('store.conflict');
    expect((await fixture.load(VOLUME)).replicas[0]?.sizeBytes).toBe(GIB);
    expect(await grow(3 * GIB)).toBe('done');
    expect((await fixture.load(VOLUME)).replicas[0]?.sizeBytes).toBe(3 * GIB);
    expect((await fixture.disk()).storageScheduledBytes).toBe(3 * GIB);
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'replica.delete', replicaId }]);
    expect((await fixture.disk()).storageScheduledBytes).toBe(0);
  });

  test('deleting a replica gives its booking back', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    await book(101, nodeId, GIB);
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'replica.delete', replicaId: asId(testId(101)) }]);
    expect((await fixture.disk()).storageScheduledBytes).toBe(0);
  });

  test('an unplaced replica gets one disk, once', async () => {
    const nodeId = await fixture.node();
    const replicaId = asId<ReplicaId>(testId(101));
    const explanation = { sentence: 'No disk has room.', at: NOON.toISOString(), replicaId };
    await fixture.volume({}, [
      { kind: 'replica.create', replica: aReplica({ volumeId: VOLUME, explanation }), booking: undefined },
    ]);
    expect((await fixture.load(VOLUME)).replicas[0]).toMatchObject({ explanation });
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const booking = {
      diskId: DISK,
      sizeBytes: GIB,
      limitBytes: 9 * GIB,
      ifSettingsVersion: settingsVersion,
    };
    const place = () =>
      outcome(fixture.store.commit({ kind: 'new' }, [{ kind: 'replica.place', replicaId, nodeId, booking }]));
    expect(await place()).toBe('done');
    expect(await place()).toBe('store.conflict');
    expect((await fixture.disk()).storageScheduledBytes).toBe(GIB);
    const placed = { nodeId, diskId: DISK, explanation: undefined };
    expect((await fixture.load(VOLUME)).replicas[0]).toMatchObject(placed);
  });
}
