import { MIB } from '@holdfast/core/model/bytes.js';
import type { CopyDescription } from '@holdfast/core/model/copy-description.js';
import type { ClusterEvent } from '@holdfast/core/model/event.js';
import type { OrphanId } from '@holdfast/core/model/ids.js';
import { asId, type DiskId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { OrphanRemoval } from '@holdfast/core/model/orphan.js';
import { expect, test } from '@jest/globals';
import { aDiskReport, aHeartbeat, aReplica, NOON, testId } from './builders.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));
const COPY = asId<ReplicaId>(testId(101));
const LATER = new Date(NOON.getTime() + 5_000);
const RECORD = { epoch: 3, dataGeneration: 1, members: [COPY] };
const CLAIMED: OrphanRemoval = {
  by: 'person',
  requestedAt: LATER,
  claimedAt: LATER,
  trouble: undefined,
};

const DESCRIPTION: CopyDescription = {
  volumeId: VOLUME,
  diskId: DISK,
  sizeBytes: MIB,
  epoch: 3,
  grantId: testId(301),
  isRebuildTarget: false,
  secret: 'the key of the copy',
  volume: null,
};

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function orphanContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const copy = { replicaId: COPY, volumeId: VOLUME, diskId: DISK, writtenBytes: MIB, record: RECORD };
  const beat = (part: Parameters<typeof aHeartbeat>[1] = {}, name = 'node-1') =>
    fixture.store.recordHeartbeat(
      fixture.tenant.clusterId,
      aHeartbeat(name, { disks: [aDiskReport(DISK)], ...part }),
      LATER,
    );
  const ready = (nodeId: NodeId) =>
    fixture.store.commit({ kind: 'new' }, [
      {
        kind: 'node.patch',
        nodeId,
        patch: {
          conditions: [{ type: 'Ready', status: 'True', reason: '', message: '', lastTransitionAt: NOON }],
        },
      },
    ]);
  const orphans = async () => (await fixture.store.loadOrphans(fixture.tenant.clusterId, 10)).orphans;

  async function oneOrphan(): Promise<{ id: OrphanId; version: number }> {
    await ready(await fixture.node());
    await beat({ replicas: [copy] });
    const [found] = await orphans();
    if (found === undefined) throw new Error('there is no orphan');
    return found.orphan;
  }

  const replica = async (nodeId: NodeId) => {
    const made = aReplica({ id: COPY, volumeId: VOLUME, nodeId, diskId: DISK });
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const booking = {
      diskId: DISK,
      sizeBytes: made.sizeBytes,
      limitBytes: made.sizeBytes,
      ifSettingsVersion: settingsVersion,
    };
    return { kind: 'replica.create' as const, replica: made, booking };
  };

  test('a reported copy that no row stands for is one, from its first report on', async () => {
    const { id } = await oneOrphan();
    const before = await fixture.store.loadOrphan(id);
    expect(before).toMatchObject({
      orphan: {
        diskId: DISK,
        replicaId: COPY,
        volumeId: VOLUME,
        writtenBytes: MIB,
        record: RECORD,
        firstSeenAt: LATER,
        announcedAt: undefined,
        removal: undefined,
      },
      nodeName: 'node-1',
      isReachable: true,
      volume: undefined,
    });
    const muchLater = new Date(LATER.getTime() + 60_000);
    const grown = { ...copy, writtenBytes: 2 * MIB, record: { ...RECORD, epoch: 4 } };
    const again = aHeartbeat('node-1', { disks: [aDiskReport(DISK)], replicas: [grown] });
    await fixture.store.recordHeartbeat(fixture.tenant.clusterId, again, muchLater);
    expect(await orphans()).toMatchObject([
      { orphan: { id, firstSeenAt: LATER, writtenBytes: 2 * MIB, record: { epoch: 4 }, version: 1 } },
    ]);
  });

  test('a copy of a replica is none, and one that becomes a replica is none any more', async () => {
    const nodeId = await fixture.node();
    await ready(nodeId);
    await fixture.volume({}, [await replica(nodeId)]);
    await beat({ replicas: [copy] });
    expect(await orphans()).toEqual([]);
  });

  test('the volume that it says it is of is shown where it exists', async () => {
    await fixture.volume({ name: 'pg-data', robustness: 'degraded' });
    await oneOrphan();
    expect(await orphans()).toMatchObject([{ volume: { name: 'pg-data', robustness: 'degraded' } }]);
  });

  test('it is gone when its disk is there and it is not; a disk that is not there proves nothing', async () => {
    const { id } = await oneOrphan();
    await beat({ disks: [aDiskReport(DISK, { ready: false, reason: 'DiskMissing' })] });
    expect(await fixture.store.loadOrphan(id)).toMatchObject({ isReachable: false });
    expect(await orphans()).toEqual([]);
    await beat({ disks: [] });
    expect(await fixture.store.loadOrphan(id)).toBeDefined();
    await beat();
    expect(await fixture.store.loadOrphan(id)).toBeUndefined();
  });

  test('copies on a disk that is not ready, or that is another node’s, are none', async () => {
    await ready(await fixture.node());
    const { nodeId } = await beat({ replicas: [copy] }, 'node-2');
    await ready(nodeId);
    expect(await orphans()).toEqual([]);
    await beat({ disks: [aDiskReport(DISK, { ready: false })], replicas: [copy] });
    await beat();
    expect(await orphans()).toEqual([]);
    const unknown = asId<DiskId>(testId(599));
    await beat({ replicas: [{ ...copy, diskId: unknown }] });
    expect(await orphans()).toEqual([]);
  });

  test('what it stores is kept until it has another record', async () => {
    const { id, version } = await oneOrphan();
    const patch = { announcedAt: LATER, description: DESCRIPTION };
    await fixture.store.commit({ kind: 'orphan', orphanId: id, ifVersion: version }, [
      { kind: 'orphan.patch', orphanId: id, patch },
    ]);
    await beat({ replicas: [{ ...copy, writtenBytes: 2 * MIB }] });
    expect(await fixture.store.loadOrphan(id)).toMatchObject({ orphan: { description: DESCRIPTION } });
    await beat({ replicas: [{ ...copy, record: { ...RECORD, epoch: 4 } }] });
    expect((await fixture.store.loadOrphan(id))?.orphan.description).toBeUndefined();
  });

  test('announced ones are found by their volumes, page by page', async () => {
    const { id, version } = await oneOrphan();
    const [later, last] = [asId<VolumeId>(testId(2)), asId<VolumeId>(testId(3))];
    const others = [later, last].map((volumeId, index) => {
      return { ...copy, volumeId, replicaId: asId<ReplicaId>(testId(110 + index)) };
    });
    await beat({ replicas: [copy, ...others] });
    const { clusterId } = fixture.tenant;
    const found = async (of: Parameters<typeof fixture.store.loadFoundCopies>[1]) =>
      (await fixture.store.loadFoundCopies(clusterId, of)).map(({ orphan }) => orphan.volumeId);
    expect(await found({ after: undefined, limit: 10 })).toEqual([]);
    const announce = (orphanId: OrphanId, ifVersion: number) =>
      fixture.store.commit({ kind: 'orphan', orphanId, ifVersion }, [
        { kind: 'orphan.patch', orphanId, patch: { announcedAt: LATER } },
      ]);
    await announce(id, version);
    for (const { orphan } of await orphans()) if (orphan.id !== id) await announce(orphan.id, orphan.version);
    expect(await found({ after: undefined, limit: 2 })).toEqual([VOLUME, later]);
    expect(await found({ after: later, limit: 2 })).toEqual([last]);
    expect(await found({ volumeId: later })).toEqual([later]);

    const gone: ClusterEvent = {
      clusterId,
      type: 'VolumeDeleted',
      subject: { kind: 'volume', id: later },
      volumeId: later,
      message: 'gone',
      at: LATER,
    };
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'event', event: gone }]);
    const all = await fixture.store.loadFoundCopies(clusterId, { after: undefined, limit: 3 });
    expect(all.map(({ deletedAt }) => deletedAt)).toEqual([undefined, LATER, undefined]);
  });

  test('those that a user wants gone come first, then those that are not announced', async () => {
    await ready(await fixture.node());
    const copies = [101, 102, 103].map((number) => ({ ...copy, replicaId: asId<ReplicaId>(testId(number)) }));
    await beat({ replicas: copies });
    const all = (await orphans()).map(({ orphan }) => orphan);
    const at = (number: number) => all.find(({ replicaId }) => replicaId === testId(number));
    const [told, fresh, wanted] = [at(101), at(102), at(103)];
    if (told === undefined || fresh === undefined || wanted === undefined) throw new Error('one is missing');
    const removal = { ...CLAIMED, claimedAt: undefined };
    await fixture.store.commit({ kind: 'new' }, [
      { kind: 'orphan.patch', orphanId: told.id, patch: { announcedAt: LATER } },
      { kind: 'orphan.patch', orphanId: wanted.id, patch: { announcedAt: LATER, removal } },
    ]);
    const order = (await orphans()).map(({ orphan }) => orphan.replicaId);
    expect(order).toEqual([testId(103), testId(102), testId(101)]);
    const { clusterId } = fixture.tenant;
    expect((await fixture.store.loadOrphans(clusterId, 1)).orphans).toMatchObject([{ orphan: { removal } }]);
    expect(await fixture.under.takeWakeUps()).toContainEqual({ kind: 'cluster', clusterId });
  });

  test('of two that decide from one state the second loses', async () => {
    const { id, version } = await oneOrphan();
    const announce = () =>
      fixture.store.commit({ kind: 'orphan', orphanId: id, ifVersion: version }, [
        { kind: 'orphan.patch', orphanId: id, patch: { announcedAt: LATER } },
      ]);
    await announce();
    expect(await outcome(announce())).toBe('store.conflict');
    expect(await fixture.store.loadOrphan(id)).toMatchObject({ orphan: { version: version + 1 } });
  });

  test('a replica takes over the orphan whose id it gets, and that can not be claimed any more', async () => {
    const { id, version } = await oneOrphan();
    const { nodeId } = await fixture.disk();
    await fixture.volume({}, [await replica(nodeId)]);
    expect(await fixture.store.loadOrphan(id)).toBeUndefined();
    const claim = fixture.store.commit({ kind: 'orphan', orphanId: id, ifVersion: version }, [
      { kind: 'orphan.patch', orphanId: id, patch: { removal: CLAIMED } },
    ]);
    expect(await outcome(claim)).toBe('store.conflict');
  });

  test('no replica gets the id of one that is claimed', async () => {
    const { id, version } = await oneOrphan();
    await fixture.store.commit({ kind: 'orphan', orphanId: id, ifVersion: version }, [
      { kind: 'orphan.patch', orphanId: id, patch: { removal: CLAIMED } },
    ]);
    const { nodeId } = await fixture.disk();
    expect(await outcome(fixture.volume({}, [await replica(nodeId)]))).toBe('store.conflict');
    await fixture.store.commit({ kind: 'orphan', orphanId: id, ifVersion: version + 1 }, [
      { kind: 'orphan.delete', orphanId: id },
    ]);
    expect(await outcome(fixture.volume({}, [await replica(nodeId)]))).toBe('done');
  });
}
