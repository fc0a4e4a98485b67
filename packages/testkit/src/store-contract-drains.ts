import type { Change } from '@holdfast/control/ports/store.js';
import {
  asId,
  type DiskId,
  type NodeId,
  type RebuildId,
  type ReplicaId,
  type VolumeId,
} from '@holdfast/core/model/ids.js';
import type { DrainWait, NodeDrain, NodeDrainStatus } from '@holdfast/core/model/node-drain.js';
import { NO_BYTES, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { AffectedPlaces } from '@holdfast/core/model/views.js';
import type { Volume } from '@holdfast/core/model/volume.js';
import { expect, test } from '@jest/globals';
import { anIdleVolume, aRebuild, aReplica, NOON, secondsAfterNoon, testId } from './builders.js';
import { attachedOn } from './lifecycle-builder.js';
import { DISK, outcome, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const DRAIN: NodeDrain = { policy: 'block-for-eviction', requestedAt: NOON, wasCordoned: false };
const OTHER_DISK = asId<DiskId>(testId(502));
const volumeIdOf = (number: number) => asId<VolumeId>(testId(number));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function drainContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  const nodeOf = async (nodeId: NodeId) => {
    const { nodes } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const node = nodes.find(({ id }) => id === nodeId);
    if (node === undefined) throw new Error(`node ${nodeId} is not there`);
    return node;
  };
  const patch = async (nodeId: NodeId, part: { drain?: NodeDrain; drainStatus?: NodeDrainStatus }) => {
    const { version } = await nodeOf(nodeId);
    const change = { kind: 'node.patch', nodeId, patch: part } as const;
    await fixture.store.commit({ kind: 'node', nodeId, ifVersion: version }, [change]);
  };
  const replicaOn = (number: number, volume: number, nodeId: NodeId, diskId: DiskId) => ({
    kind: 'replica.create' as const,
    replica: aReplica({ id: asId(testId(number)), volumeId: volumeIdOf(volume), nodeId, diskId }),
    booking: undefined,
  });

  test('a node is deleted only once it is being forgotten and no volume refers to it', async () => {
    const nodeId = await fixture.node();
    const forget = { requestedAt: NOON, acceptedLosses: [volumeIdOf(1)] };
    const remove = () => outcome(fixture.store.commit({ kind: 'new' }, [{ kind: 'node.delete', nodeId }]));
    expect(await remove()).toBe('store.conflict');
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { forget } }]);
    expect((await nodeOf(nodeId)).forget).toEqual(forget);
    const conditions = [
      { type: 'Ready' as const, status: 'False' as const, reason: '', message: '', lastTransitionAt: NOON },
    ];
    await fixture.store.commit({ kind: 'new' }, [{ kind: 'node.patch', nodeId, patch: { conditions } }]);
    await remove();
    const { nodes, disks } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    expect(nodes.some(({ id }) => id === nodeId)).toBe(false);
    expect(disks.some((disk) => disk.nodeId === nodeId)).toBe(false);
  });

  test('a drain and its status are read as they were written, and taken away', async () => {
    const nodeId = await fixture.node();
    const wait = (replicaId: ReplicaId | undefined, reason: DrainWait['reason']): DrainWait => ({
      volumeId: volumeIdOf(1),
      volumeName: 'pg-data',
      replicaId,
      reason,
      message: 'it is in the way',
      cures: ['move it'],
    });
    const status: NodeDrainStatus = {
      state: 'blocked',
      since: NOON,
      progress: { replicasToMove: 2, replicasMoved: 1, bytesToMove: 8192, bytesMoved: 4096 },
      waitingCount: 2,
      waitingFor: [wait(undefined, 'EngineRunning'), wait(asId(testId(101)), 'NoPlace')],
    };
    await patch(nodeId, { drain: DRAIN, drainStatus: status });
    const node = await nodeOf(nodeId);
    expect([node.drain, node.drainStatus]).toEqual([DRAIN, status]);
    // The reconciler compares a new status with the stored one by their texts.
    expect(JSON.stringify(node.drainStatus)).toBe(JSON.stringify(status));

    const { version } = node;
    await fixture.store.commit({ kind: 'node', nodeId, ifVersion: version }, [
      { kind: 'node.patch', nodeId, patch: { drain: undefined, drainStatus: undefined } },
    ]);
    expect(await nodeOf(nodeId)).toMatchObject({ drain: undefined, drainStatus: undefined });
  });

  test('of two commits at once that count on each other’s node one wins; one that counts on a node as it was is a conflict', async () => {
    const [a, b] = [await fixture.node('node-1'), await fixture.node('node-2', OTHER_DISK)];
    const before = new Map([a, b].map((id) => [id, nodeOf(id)]));
    const drain = async (nodeId: NodeId, otherId: NodeId) => {
      const [node, countsOn] = [await before.get(nodeId), await before.get(otherId)];
      if (node === undefined || countsOn === undefined) throw new Error('there are two nodes');
      const guard = { kind: 'node', nodeId, ifVersion: node.version, countsOn } as const;
      return fixture.store.commit(guard, [{ kind: 'node.patch', nodeId, patch: { drain: DRAIN } }]);
    };
    const outcomes = await Promise.all([outcome(drain(a, b)), outcome(drain(b, a))]);
    expect(outcomes.sort()).toEqual(['done', 'store.conflict']);
    const drained = [(await nodeOf(a)).drain, (await nodeOf(b)).drain];
    expect(drained.filter((one) => one !== undefined)).toHaveLength(1);
    const [first, second] = drained[0] === undefined ? [b, a] : [a, b];
    expect(await outcome(drain(second, first))).toBe('store.conflict');
    const known = (await nodeOf(first)).version;
    const { version: ifVersion } = await nodeOf(second);
    const countsOn = { id: first, version: known };
    const patched: Change = { kind: 'node.patch', nodeId: second, patch: { tags: ['ssd'] } };
    expect(
      await outcome(fixture.store.commit({ kind: 'node', nodeId: second, ifVersion, countsOn }, [patched])),
    ).toBe('done');
    // The node that it counts on stays unchanged.
    expect((await nodeOf(first)).version).toBe(known);
  });

  test('a drain concerns the volumes of its node; how far it is concerns none', async () => {
    const nodeId = await fixture.node();
    const { clusterId } = fixture.tenant;
    await patch(nodeId, { drain: DRAIN });
    expect(await fixture.store.fanOut(clusterId, 10)).toEqual({ of: 'node', isDone: true });
    const progress = { replicasToMove: 0, replicasMoved: 0, bytesToMove: 0, bytesMoved: 0 };
    await fixture.under.takeWakeUps();
    await patch(nodeId, {
      drainStatus: { state: 'drained', since: NOON, progress, waitingCount: 0, waitingFor: [] },
    });
    expect(await fixture.store.fanOut(clusterId, 10)).toBeUndefined();
    expect(await fixture.under.takeWakeUps()).toEqual([{ kind: 'cluster', clusterId }]);
  });

  test('the volumes of a node are those with a replica or their engine there, whole and with active rebuilds', async () => {
    const nodeId = await fixture.node();
    const otherId = await fixture.node('node-2', OTHER_DISK);
    const { tenant } = fixture;
    const add = (number: number, part: Partial<Volume>, changes: readonly Change[]) =>
      fixture.volume(
        anIdleVolume(tenant, { id: volumeIdOf(number), name: `volume-${number}`, ...part }),
        changes,
      );
    const rebuild = (id: string, part: Partial<Rebuild> = {}): Change => {
      const { clusterId } = tenant;
      const ids = { id: asId<RebuildId>(id), clusterId, volumeId: volumeIdOf(1) };
      const targetReplicaId = asId<ReplicaId>(testId(102));
      return { kind: 'rebuild.create', rebuild: aRebuild({ ...ids, targetReplicaId, ...part }) };
    };
    await add(1, {}, [
      replicaOn(101, 1, nodeId, DISK),
      replicaOn(102, 1, otherId, OTHER_DISK),
      rebuild(testId(301)),
      rebuild(testId(302), { state: 'failed', finishedAt: NOON }),
    ]);
    await add(2, { lifecycle: attachedOn(nodeId) }, [replicaOn(103, 2, otherId, OTHER_DISK)]);
    await add(3, {}, [replicaOn(104, 3, otherId, OTHER_DISK)]);

    const { fleet, volumes } = await fixture.store.loadNodeVolumes(tenant.clusterId, nodeId);
    expect(fleet.nodes.map(({ id }) => id).sort()).toEqual([nodeId, otherId].sort());
    expect(volumes.map(({ volume }) => volume.id)).toEqual([volumeIdOf(1), volumeIdOf(2)]);
    expect(volumes.map(({ replicas }) => replicas.map(({ id }) => id))).toEqual([
      [testId(101), testId(102)],
      [testId(103)],
    ]);
    expect(volumes.map(({ rebuilds }) => rebuilds.map(({ id }) => id))).toEqual([[testId(301)], []]);

    const affected = async (places: Partial<AffectedPlaces>, limit = 10) => {
      const found = await fixture.store.loadAffectedVolumes(
        tenant.clusterId,
        { nodeIds: [], diskIds: [], ...places },
        limit,
      );
      expect(found.fleet.nodes).toHaveLength(2);
      return found.volumes.map(({ volume, replicas, rebuilds: own }) => {
        return [volume.id, replicas.length, own.length];
      });
    };
    await add(4, { robustness: 'degraded' }, []);
    // A volume with an active rebuild and one that is degraded are always affected.
    const always = [
      [volumeIdOf(1), 2, 1],
      [volumeIdOf(4), 0, 0],
    ];
    expect(await affected({})).toEqual(always);
    expect(await affected({ nodeIds: [nodeId] })).toEqual([always[0], [volumeIdOf(2), 1, 0], always[1]]);
    expect(await affected({ diskIds: [OTHER_DISK] })).toHaveLength(4);
    expect(await affected({ diskIds: [OTHER_DISK] }, 1)).toEqual([always[0]]);
  });

  test('speeds are told of rebuilds that succeeded, the last first', async () => {
    const { clusterId } = fixture.tenant;
    const rebuild = (number: number, queued: number, part: Partial<Rebuild>): Change => {
      const times = { queuedAt: secondsAfterNoon(queued), startedAt: NOON, finishedAt: secondsAfterNoon(20) };
      const id = asId<RebuildId>(testId(300 + number));
      const bytes = { ...NO_BYTES, total: 900, sent: 100 * number };
      return {
        kind: 'rebuild.create',
        rebuild: aRebuild({ id, clusterId, volumeId: volumeIdOf(1), bytes, ...times, ...part }),
      };
    };
    await fixture.volume(anIdleVolume(fixture.tenant, { id: volumeIdOf(1) }), [
      rebuild(1, 1, { state: 'succeeded' }),
      rebuild(2, 2, { state: 'succeeded', finishedAt: secondsAfterNoon(5) }),
      rebuild(3, 3, { state: 'failed' }),
      rebuild(4, 4, { state: 'running', finishedAt: undefined }),
    ]);
    const speeds = [
      { bytes: 200, seconds: 5 },
      { bytes: 100, seconds: 20 },
    ];
    expect(await fixture.store.loadRebuildSpeeds(clusterId, 10)).toEqual(speeds);
    expect(await fixture.store.loadRebuildSpeeds(clusterId, 1)).toEqual(speeds.slice(0, 1));
  });
}
