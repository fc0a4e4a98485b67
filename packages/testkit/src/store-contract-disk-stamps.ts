import { acceptDisk } from '@holdfast/control/use-cases/accept-disk.js';
import type { StampReport } from '@holdfast/core/model/agent-protocol.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { duplicateRowId } from '@holdfast/core/model/disk-stamp.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { REBUILD_RETRIES_MAX } from '@holdfast/core/model/replica.js';
import { expect, test } from '@jest/globals';
import { aDiskReport, aHeartbeat, aReplica, secondsAfterNoon, testId } from './builders.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const [FIRST, SECOND, OTHER] = [testId(701), testId(702), testId(703)];
const VOLUME = asId<VolumeId>(testId(1));
const OTHER_COPY = asId<ReplicaId>(testId(704));

/** A stamp of a disk in use, whose files are those of the node `of`. */
function aStamp(id: string | null, trail: string[] = [], of = 'original'): StampReport {
  return { id, generation: id === null ? 0 : trail.length + 1, trail, isOpen: true, fileId: of };
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function diskStampsContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const clusterId = () => fixture.tenant.clusterId;
  const ports = () => ({
    store: fixture.store,
    clock: { now: () => secondsAfterNoon(100) },
    random: { id: () => testId(799), secret: () => 'secret' },
  });
  const beat = (node: string, at: number, ...disks: ReturnType<typeof aDiskReport>[]) =>
    fixture.store.recordHeartbeat(clusterId(), aHeartbeat(node, { disks }), secondsAfterNoon(at));
  const stamped = (stamp: StampReport) => aDiskReport(DISK, { stamp });
  const rows = async () => (await fixture.store.loadFleet(clusterId())).disks;
  const readiness = async () => conditionOf((await fixture.disk()).conditions, 'Ready');
  const silence = async (nodeId: NodeId) => {
    const conditions = [
      {
        type: 'Ready' as const,
        status: 'False' as const,
        reason: 'AgentSilent',
        message: '',
        lastTransitionAt: secondsAfterNoon(0),
      },
    ];
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { conditions } }]);
  };

  test('a stamp is confirmed to the node that has the disk, once it is stored', async () => {
    await fixture.node();
    const none = await beat('node-1', 1, stamped(aStamp(null)));
    expect(none.stamps).toEqual([{ diskId: DISK, stampId: null }]);
    const first = await beat('node-1', 2, stamped(aStamp(FIRST)));
    expect(first.stamps).toEqual([{ diskId: DISK, stampId: FIRST }]);
    expect((await fixture.disk()).stamp).toMatchObject({ id: FIRST, isOpen: true });
    const elsewhere = await beat('node-2', 3, stamped(aStamp(FIRST)));
    expect(elsewhere.stamps).toEqual([]);
  });

  test('a node that answers with an earlier state has a disk that is not ready, until a user accepts it', async () => {
    const nodeId = await fixture.node();
    await beat('node-1', 1, stamped(aStamp(FIRST)));
    await beat('node-1', 2, stamped(aStamp(SECOND, [FIRST])));
    const older = await beat('node-1', 60, stamped(aStamp(FIRST)));
    expect(older.stamps).toEqual([]);
    expect(await readiness()).toMatchObject({ status: 'False', reason: 'DiskSetBack' });
    await acceptDisk(ports(), { clusterId: clusterId(), diskId: DISK });
    expect(await fixture.disk()).toMatchObject({ acceptedNodeId: nodeId });
    await beat('node-1', 61, stamped(aStamp(FIRST)));
    expect(await readiness()).toMatchObject({ status: 'True' });
    expect(await fixture.disk()).toMatchObject({ acceptedNodeId: undefined, stamp: { id: FIRST } });
  });

  test('what a user accepts waits until the copies on it are given up where others are full', async () => {
    const nodeId = await fixture.node();
    const other = asId<DiskId>(testId(502));
    const otherNode = await fixture.node('node-2', other);
    await beat('node-1', 1, stamped(aStamp(FIRST)));
    await beat('node-1', 2, stamped(aStamp(SECOND, [FIRST])));
    const full = { healthyAt: secondsAfterNoon(0), failedAt: undefined, mode: undefined };
    const copies = [
      aReplica({ ...full, volumeId: VOLUME, nodeId, diskId: DISK }),
      aReplica({ ...full, id: OTHER_COPY, volumeId: VOLUME, nodeId: otherNode, diskId: other }),
    ];
    await fixture.volume(
      {},
      copies.map((replica) => ({ kind: 'replica.create' as const, replica, booking: undefined })),
    );
    await beat('node-1', 60, stamped(aStamp(FIRST)));
    await acceptDisk(ports(), { clusterId: clusterId(), diskId: DISK });
    await beat('node-1', 61, stamped(aStamp(FIRST)));
    expect(await readiness()).toMatchObject({ reason: 'DiskSetBack' });

    const { volume } = await fixture.load(VOLUME);
    const patch = { failedAt: secondsAfterNoon(62), rebuildRetryCount: REBUILD_RETRIES_MAX };
    const givenUp = copies
      .slice(0, 1)
      .map(({ id }) => ({ kind: 'replica.patch' as const, replicaId: id, patch }));
    await fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: volume.version }, givenUp);
    await beat('node-1', 63, stamped(aStamp(FIRST)));
    expect(await readiness()).toMatchObject({ status: 'True' });
  });

  test('a disk that moves with its newest state is the new node’s, and its stamp with it', async () => {
    await silence(await fixture.node());
    await beat('node-1', 1, stamped(aStamp(FIRST)));
    await silence((await fixture.disk()).nodeId);
    const moved = await beat('node-2', 60, stamped(aStamp(SECOND, [FIRST])));
    expect(moved.stamps).toEqual([{ diskId: DISK, stampId: SECOND }]);
    expect(await fixture.disk()).toMatchObject({ nodeId: moved.nodeId, stamp: { id: SECOND } });
  });

  test('a copy of the disk has a row that says so, and never takes its place', async () => {
    const nodeId = await fixture.node();
    await beat('node-1', 1, stamped(aStamp(FIRST)));
    const copy = stamped(aStamp(FIRST, [], 'copied'));
    const { nodeId: other } = await beat('node-2', 2, copy);
    expect(await rows()).toHaveLength(1);
    await beat('node-1', 9, stamped(aStamp(FIRST)));
    await beat('node-2', 10, copy);
    const second = duplicateRowId(DISK, other);
    const row = (await rows()).find(({ id }) => id === second);
    expect(row).toMatchObject({ nodeId: other, duplicateOf: DISK, storageMaximumBytes: 0 });
    expect(conditionOf(row?.conditions ?? [], 'Ready')).toMatchObject({ reason: 'DuplicateDisk' });
    expect(conditionOf((await fixture.disk()).conditions, 'Unique')).toMatchObject({ status: 'False' });
    const accepting = () => acceptDisk(ports(), { clusterId: clusterId(), diskId: second });

    await silence(nodeId);
    await beat('node-2', 60, copy);
    expect(await fixture.disk()).toMatchObject({ nodeId });
    await accepting();
    await beat('node-2', 61, copy);
    expect(await fixture.disk()).toMatchObject({ nodeId: other, rivals: undefined });
    expect(conditionOf((await fixture.disk()).conditions, 'Unique')).toBeUndefined();
    expect(await rows()).toHaveLength(1);
  });

  test('a copy is not accepted while the disk is there, and its row goes with it', async () => {
    const nodeId = await fixture.node();
    const conditions = [
      {
        type: 'Ready' as const,
        status: 'True' as const,
        reason: '',
        message: '',
        lastTransitionAt: secondsAfterNoon(0),
      },
    ];
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { conditions } }]);
    const copy = stamped(aStamp(OTHER, [], 'copied'));
    const { nodeId: other } = await beat('node-2', 2, copy);
    await beat('node-1', 9, stamped(aStamp(FIRST)));
    await beat('node-2', 10, copy);
    const second = duplicateRowId(DISK, other);
    expect(await outcome(acceptDisk(ports(), { clusterId: clusterId(), diskId: second }))).toBe(
      'disk.in_use',
    );
    await beat('node-2', 12);
    expect((await rows()).map(({ id }) => id)).toEqual([DISK]);
    expect(conditionOf((await fixture.disk()).conditions, 'Unique')).toBeUndefined();
  });
}
