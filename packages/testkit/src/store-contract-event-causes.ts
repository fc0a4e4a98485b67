import type { Change } from '@holdfast/control/ports/store.js';
import type { EventCause } from '@holdfast/core/model/event-cause.js';
import { asId, type NodeId, type ReplicaId, type VolumeId } from '@holdfast/core/model/ids.js';
import { diskEvent } from '@holdfast/core/policy/disk-events.js';
import { nodeEvent } from '@holdfast/core/policy/node-events.js';
import { beforeEach, expect, test } from '@jest/globals';
import { aReplica, NOON, secondsAfterNoon, testId } from './builders.js';
import { DISK, StoreFixture } from './store-fixture.js';
import type { MakeStore } from './store-under-test.js';

const VOLUME = asId<VolumeId>(testId(1));
const REPLICA = asId<ReplicaId>(testId(101));

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a suite of tests, as long as those in test files
export function eventCauseContract(makeStore: MakeStore): void {
  const fixture = new StoreFixture(makeStore);
  let nodeId: NodeId;

  /** A volume with a copy on node-1, whose agent was heard at noon. */
  beforeEach(async () => {
    nodeId = await fixture.node();
    const { settingsVersion } = await fixture.store.loadFleet(fixture.tenant.clusterId);
    const replica = aReplica({ id: REPLICA, volumeId: VOLUME, nodeId, diskId: DISK });
    const { sizeBytes } = replica;
    const booking = { diskId: DISK, sizeBytes, limitBytes: sizeBytes, ifSettingsVersion: settingsVersion };
    await fixture.volume({ id: VOLUME }, [{ kind: 'replica.create', replica, booking }]);
  });

  const tell = (type: 'NodeNotReady' | 'NodeReady' | 'DiskNotReady', at: Date): Change => {
    const news = { type, message: type };
    const { clusterId } = fixture.tenant;
    const event =
      type === 'DiskNotReady'
        ? diskEvent(clusterId, { id: DISK }, news, at)
        : nodeEvent({ id: nodeId, clusterId }, news, at);
    return { kind: 'event', event };
  };
  const effect = (type: 'VolumeDegraded' | 'ReplicaFailed', at: Date, cause?: EventCause): Change => {
    const subject =
      type === 'ReplicaFailed'
        ? ({ kind: 'replica', id: REPLICA } as const)
        : ({ kind: 'volume', id: VOLUME } as const);
    const { clusterId } = fixture.tenant;
    return { kind: 'event', event: { clusterId, type, subject, volumeId: VOLUME, message: type, at, cause } };
  };
  const failure = (failedAt: Date): Change => ({
    kind: 'replica.patch',
    replicaId: REPLICA,
    patch: { failedAt },
  });

  async function commit(...changes: Change[]): Promise<void> {
    const { volume } = await fixture.load(VOLUME);
    await fixture.store.commit({ kind: 'volume', volumeId: VOLUME, ifVersion: volume.version }, changes);
  }
  const causes = async () =>
    (await fixture.under.events()).map(({ type, causeType }) => `${type} of ${causeType ?? 'nothing'}`);

  test('an event follows from the last loss or return of the place that it names', async () => {
    const node = { kind: 'node', id: nodeId } as const;
    await commit(tell('NodeNotReady', NOON), tell('NodeReady', NOON));
    await commit(tell('NodeNotReady', NOON));
    await commit(effect('VolumeDegraded', NOON, node));
    await commit(tell('NodeReady', NOON), effect('VolumeDegraded', NOON));
    expect((await causes()).slice(-4)).toEqual([
      'NodeNotReady of nothing',
      'VolumeDegraded of NodeNotReady',
      'NodeReady of nothing',
      'VolumeDegraded of nothing',
    ]);
  });

  test('a place of which nothing was told is no cause', async () => {
    await commit(effect('VolumeDegraded', NOON, { kind: 'node', id: nodeId }));
    expect((await causes()).at(-1)).toBe('VolumeDegraded of nothing');
  });

  test('the silence of a node claims what its copies did since it was last heard', async () => {
    const failedAt = secondsAfterNoon(2);
    await commit(effect('VolumeDegraded', secondsAfterNoon(-5)));
    await commit(failure(failedAt), effect('ReplicaFailed', failedAt), effect('VolumeDegraded', failedAt));
    await commit(tell('NodeNotReady', secondsAfterNoon(10)));
    expect((await causes()).slice(-4)).toEqual([
      'VolumeDegraded of nothing',
      'ReplicaFailed of NodeNotReady',
      'VolumeDegraded of NodeNotReady',
      'NodeNotReady of nothing',
    ]);
  });

  test('nothing is claimed for a copy that failed before the node was last heard', async () => {
    await commit(failure(secondsAfterNoon(-1)), effect('ReplicaFailed', secondsAfterNoon(2)));
    await commit(tell('NodeNotReady', secondsAfterNoon(10)));
    expect((await causes()).at(-2)).toBe('ReplicaFailed of nothing');
  });

  test('the loss of a disk claims what its copies did in the minute before, and nothing twice', async () => {
    await commit(
      effect('VolumeDegraded', secondsAfterNoon(-90)),
      failure(NOON),
      effect('ReplicaFailed', NOON),
    );
    await commit(tell('DiskNotReady', secondsAfterNoon(3)));
    await commit(tell('NodeNotReady', secondsAfterNoon(4)));
    expect((await causes()).slice(-4, -2)).toEqual([
      'VolumeDegraded of nothing',
      'ReplicaFailed of DiskNotReady',
    ]);
  });
}
