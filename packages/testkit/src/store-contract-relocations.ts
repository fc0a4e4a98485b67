import type { Change } from '@holdfast/control/ports/store.js';
import { asId, type RebuildId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import type { BalanceHistory, Relocation } from '@holdfast/core/model/relocation.js';
import { expect, test } from '@jest/globals';
import { aRebuild, aReplica, NOON, secondsAfterNoon, testId } from './builders.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));
const OTHER = asId<VolumeId>(testId(2));
const REPLICA = asId<ReplicaId>(testId(101));
const OLD = asId<ReplicaId>(testId(102));
const REBUILD = asId<RebuildId>(testId(201));
const PLACE = { nodeId: asId<Relocation['from']['nodeId']>(testId(301)), diskId: DISK };
const RELOCATION: Relocation = {
  reason: 'balance',
  replacesId: OLD,
  from: PLACE,
  gain: 'node-1 holds 2 of its copies and node-2 0',
  bytes: 4096,
  at: NOON,
};

export function relocationContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const begin = (ifVersion: number): Change => ({
    kind: 'balance.begin',
    clusterId: fixture.tenant.clusterId,
    ifVersion,
  });

  test('the relocations of the whole cluster are in the view of each volume until they end', async () => {
    const replica = aReplica({ volumeId: VOLUME, id: REPLICA, relocation: RELOCATION });
    await fixture.volume({}, [{ kind: 'replica.create', replica, booking: undefined }]);
    await fixture.volume({ id: OTHER, name: 'other' });
    const { relocations } = await fixture.load(OTHER);
    expect(relocations.underWay).toEqual([{ volumeId: VOLUME, relocation: RELOCATION }]);
    expect((await fixture.load(VOLUME)).replicas[0]?.relocation).toEqual(RELOCATION);

    const ended: Change = { kind: 'replica.patch', replicaId: REPLICA, patch: { relocation: undefined } };
    await fixture.store.commit({ kind: 'new' }, [ended]);
    expect((await fixture.load(OTHER)).relocations.underWay).toEqual([]);
    expect((await fixture.load(VOLUME)).replicas[0]?.relocation).toBeUndefined();
  });

  test('of two moves that auto-balance decided at once the second is a conflict, with all of its commit', async () => {
    await fixture.volume();
    const { version } = (await fixture.load(VOLUME)).relocations;
    await fixture.store.commit({ kind: 'new' }, [begin(version)]);
    const replica = aReplica({ volumeId: VOLUME, id: REPLICA });
    const second: Change[] = [begin(version), { kind: 'replica.create', replica, booking: undefined }];
    expect(await outcome(fixture.store.commit({ kind: 'new' }, second))).toBe('store.conflict');
    const view = await fixture.load(VOLUME);
    expect([view.replicas.length, view.relocations.version]).toEqual([0, version + 1]);
  });

  test('what auto-balance remembers of a volume, and when a node returned and a disk filled up, comes back', async () => {
    const nodeId = await fixture.node();
    await fixture.volume();
    const move = { from: PLACE, to: { nodeId, diskId: DISK }, at: NOON };
    const balance: BalanceHistory = { moves: [move], stoppedAt: secondsAfterNoon(5) };
    await fixture.patch(VOLUME, 1, { balance });
    await fixture.store.commit({ kind: 'new' }, [
      { kind: 'node.patch', nodeId, patch: { returnedAt: NOON } },
      { kind: 'disk.patch', diskId: DISK, patch: { pressedAt: NOON } },
    ]);
    const view = await fixture.load(VOLUME);
    expect(view.volume.balance).toEqual(balance);
    expect(view.fleet.nodes[0]?.returnedAt).toEqual(NOON);
    expect(view.fleet.disks[0]?.pressedAt).toEqual(NOON);

    await fixture.patch(VOLUME, 2, { balance: { moves: [move], stoppedAt: undefined } });
    expect((await fixture.load(VOLUME)).volume.balance?.stoppedAt).toBeUndefined();
    await fixture.patch(VOLUME, 3, { balance: undefined });
    expect((await fixture.load(VOLUME)).volume.balance).toBeUndefined();
  });

  test('a rebuild says whether it only replaces a copy', async () => {
    const { clusterId } = fixture.tenant;
    const rebuild = aRebuild({ id: REBUILD, clusterId, volumeId: VOLUME, relocates: true });
    await fixture.node();
    await fixture.volume({}, [{ kind: 'rebuild.create', rebuild }]);
    const { queued } = await fixture.store.loadAdmissions(clusterId, { now: NOON, limit: 1 });
    expect(queued[0]?.relocates).toBe(true);
  });
}
