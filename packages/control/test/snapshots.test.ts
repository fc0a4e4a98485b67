/** Snapshots, purge, revert and expansion, told over the use cases on a simulated cluster. */
import { cloneVolume } from '@holdfast/control/use-cases/clone-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { cancelExpand, requestExpand } from '@holdfast/control/use-cases/request-expand.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import {
  requestHash,
  requestPurge,
  requestRevert,
  requestSnapshot,
  requestSnapshotDeletion,
} from '@holdfast/control/use-cases/snapshots.js';
import { GIB, TIB } from '@holdfast/core/model/bytes.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import type { SnapshotId, VolumeId } from '@holdfast/core/model/ids.js';
import { agreedChecksum, USER_SNAPSHOTS_MAX } from '@holdfast/core/model/snapshot.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

async function aServedVolume(): Promise<void> {
  world = await aWorld();
  client = await aServedVolumeIn(world);
}

const key = () => ({ volumeId: client.volumeId });
const take = (name: string) => requestSnapshot(world.useCases, { ...key(), name });
const snapshots = async () => (await client.view()).snapshots.map(({ name, state }) => `${name} ${state}`);
const events = (type: string) => world.store.events.filter((event) => event.type === type);
const layersOn = (name: string) =>
  [...world.node(name).copies.values()].flatMap(({ layers }) => layers.map((layer) => layer.name));

/** Every kind of loss once, at each of the first effects of what is then asked for; `from` names the first that counts. */
function disturbOnce(fault: EffectFault, at: number, from?: string): void {
  let count = 0;
  world.faults = {
    ...NO_FAULTS,
    onEffect: (name) => {
      if (count === 0 && from !== undefined && name !== from) return 'none';
      count += 1;
      return count === at ? fault : 'none';
    },
  };
}

const TROUBLES = (['die-before', 'die-after', 'lost-before', 'lost-after'] as const).flatMap((fault) =>
  [1, 2, 3].map((at) => ({ fault, at })),
);

describe('snapshots', () => {
  test('are taken on every copy, deleted by a mark, and taken out by the purge that follows', async () => {
    await aServedVolume();
    const id = await take('before');
    expect(await snapshots()).toEqual(['before creating']);
    await world.run(1);
    expect(await snapshots()).toEqual(['before ready']);
    expect((await client.view()).volume.chain?.headParentId).toBe(id);
    expect(['node-1', 'node-2', 'node-3'].flatMap(layersOn)).toEqual(['before', 'before', 'before']);
    await requestSnapshotDeletion(world.useCases, { ...key(), snapshotId: id });
    await world.run(5);
    expect(await snapshots()).toEqual([]);
    expect(layersOn('node-2')).toEqual([]);
    expect((await client.view()).volume.task).toBeUndefined();
    expect([events('SnapshotCreated').length, events('SnapshotDeleted').length]).toEqual([1, 1]);
  });

  test.each(TROUBLES)('$fault at effect $at: one snapshot is there in the end', async ({ fault, at }) => {
    await aServedVolume();
    disturbOnce(fault, at);
    await take('once');
    await world.run(20);
    expect(await snapshots()).toEqual(['once ready']);
    expect(layersOn('node-3')).toEqual(['once']);
  });

  test.each(TROUBLES)(
    '$fault at effect $at: a deleted snapshot is gone in the end',
    async ({ fault, at }) => {
      await aServedVolume();
      const snapshotId = await take('gone');
      await world.run(1);
      disturbOnce(fault, at);
      await requestSnapshotDeletion(world.useCases, { ...key(), snapshotId });
      await world.run(40);
      expect(await snapshots()).toEqual([]);
      expect(layersOn('node-3')).toEqual([]);
    },
  );

  test('need an attached volume and a free name, and have a limit', async () => {
    await aServedVolume();
    await take('s');
    expect(await codeOf(take('s'))).toBe('snapshot.name_taken');
    world.store.setSetting(world.clusterId, 'snapshot-max-count', 2);
    await take('t');
    expect(await codeOf(take('u'))).toBe('snapshot.limit_reached');
    await world.run(1);
    await requestDetach(world.useCases, key());
    await world.run(2);
    expect(await codeOf(take('v'))).toBe('volume.not_attached');
    expect(USER_SNAPSHOTS_MAX).toBe(239);
  });

  test('are hashed on request, and all copies agree', async () => {
    await aServedVolume();
    const snapshotId = await take('hashed');
    await world.run(1);
    const checksum = async () => agreedChecksum((await client.view()).snapshots[0] ?? { checksums: [] });
    expect(await checksum()).toBeUndefined();
    await requestHash(world.useCases, { ...key(), snapshotId, force: false });
    await world.run(4);
    expect(await checksum()).toBe('1');
    expect((await client.view()).snapshots[0]?.hashRequest).toBeUndefined();
  });

  test.each([
    { integrity: 'fast-check', want: '1' },
    { integrity: 'disabled', want: undefined },
  ])('are hashed as soon as they are taken where that is set: $integrity', async ({ integrity, want }) => {
    await aServedVolume();
    const immediate = 'snapshot-data-integrity-immediate-check-after-snapshot-creation';
    world.store.setSetting(world.clusterId, immediate, true);
    world.store.setSetting(world.clusterId, 'snapshot-data-integrity', integrity);
    await take('checked');
    await world.run(5);
    expect(agreedChecksum((await client.view()).snapshots[0] ?? { checksums: [] })).toBe(want);
  });

  test('a purge that is switched off is refused, and deleted snapshots stay', async () => {
    await aServedVolume();
    world.store.setSetting(world.clusterId, 'disable-snapshot-purge', true);
    const snapshotId = await take('stays');
    await world.run(1);
    await requestSnapshotDeletion(world.useCases, { ...key(), snapshotId });
    await world.run(10);
    expect(await snapshots()).toEqual(['stays removed']);
    expect(await codeOf(requestPurge(world.useCases, key()))).toBe('volume.busy');
  });
});

describe('revert', () => {
  test('brings back what was there when the snapshot was taken, on every copy', async () => {
    await aServedVolume();
    const snapshotId = await take('then');
    await world.run(1);
    await client.write();
    await requestRevert(world.useCases, { ...key(), snapshotId });
    await world.run(2);
    const written = world.nodes.flatMap(({ copies }) =>
      [...copies.values()].map(({ writes }) => [...writes]),
    );
    expect(written).toEqual([[1], [1], [1]]);
    expect(events('VolumeReverted')).toHaveLength(1);
  });

  test('is not done at a later attach', async () => {
    await aServedVolume();
    const snapshotId = await take('then');
    await world.run(1);
    await requestRevert(world.useCases, { ...key(), snapshotId });
    await requestDetach(world.useCases, key());
    await world.run(3);
    const { task } = (await client.view()).volume;
    expect(task).toBeUndefined();
  });
});

describe('clone', () => {
  const clone = async (sizeBytes?: number): Promise<VolumeId> => {
    const snapshotId = (await client.view()).snapshots[0]?.id;
    if (snapshotId === undefined) throw new Error('there is no snapshot');
    return cloneVolume(world.useCases, { ...key(), snapshotId, name: 'copy', sizeBytes });
  };
  const written = (volumeId: VolumeId) =>
    world.nodes.flatMap(({ copies }) =>
      [...copies.values()].filter((copy) => copy.volumeId === volumeId).map(({ writes }) => [...writes]),
    );
  const isFilled = (volumeId: VolumeId) => async () => {
    const volume = (await world.store.loadVolume(volumeId))?.volume;
    return volume?.task === undefined && volume?.lifecycle.state === 'detached';
  };

  async function aSource(): Promise<void> {
    await aServedVolume();
    await take('base');
    await world.run(1);
    await client.write();
  }

  test.each([
    { name: 'an attached', prepare: async () => undefined },
    { name: 'a detached', prepare: () => requestDetach(world.useCases, key()) },
  ])('of $name volume holds what the snapshot holds, and is detached in the end', async ({ prepare }) => {
    await aSource();
    await prepare();
    const volumeId = await clone();
    expect(await world.runUntil(isFilled(volumeId), 60)).toBe(true);
    expect(written(volumeId)).toEqual([[1], [1], [1]]);
    expect(events('VolumeCloned')).toHaveLength(1);
  });

  test.each(TROUBLES)('$fault at effect $at: it is filled in the end', async ({ fault, at }) => {
    await aSource();
    // A volume whose directory could not be made on one node goes on with its other copies, and is filled there.
    disturbOnce(fault, at, 'fill');
    const volumeId = await clone();
    expect(await world.runUntil(isFilled(volumeId), 120)).toBe(true);
    expect(written(volumeId)).toEqual([[1], [1], [1]]);
  });

  test('no user can attach it before, and its snapshot and source stay meanwhile', async () => {
    await aSource();
    world.faults = { ...NO_FAULTS, onEffect: (name) => (name === 'fill' ? 'lost-before' : 'none') };
    const volumeId = await clone();
    await world.run(10);
    const view = await world.store.loadVolume(volumeId);
    expect(view?.volume.task?.trouble?.message).toBe('no answer');
    expect(await codeOf(requestAttach(world.useCases, { volumeId }))).toBe('volume.busy');
    expect(await codeOf(requestSnapshot(world.useCases, { volumeId, name: 's' }))).toBe('volume.busy');
    const snapshotId = (await client.view()).snapshots[0]?.id;
    if (snapshotId === undefined) throw new Error('there is no snapshot');
    expect(await codeOf(requestSnapshotDeletion(world.useCases, { ...key(), snapshotId }))).toBe(
      'snapshot.in_use',
    );
    await requestDetach(world.useCases, key());
    expect(await codeOf(requestDelete(world.useCases, key()))).toBe('volume.in_use');
    await requestDelete(world.useCases, { volumeId });
    await world.run(5);
    expect(await world.store.loadVolume(volumeId)).toBeUndefined();
    expect(written(volumeId)).toEqual([]);
    expect(world.nodes.flatMap(({ engines }) => [...engines.keys()])).not.toContain(volumeId);
  });

  test('may be larger than its source, never smaller', async () => {
    await aSource();
    expect(await codeOf(clone(GIB / 2))).toBe('request.invalid');
    const volumeId = await clone(2 * GIB);
    expect((await world.store.loadVolume(volumeId))?.volume.spec.sizeBytes).toBe(2 * GIB);
  });
});

describe('expand', () => {
  const size = async () => (await client.view()).volume.spec.sizeBytes;
  const booked = async () =>
    (await world.store.loadFleet(world.clusterId)).disks.reduce(
      (sum, disk) => sum + disk.storageScheduledBytes,
      0,
    );

  test('books at once, and shows the new size when all copies have grown', async () => {
    await aServedVolume();
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    expect([await size(), await booked()]).toEqual([GIB, 6 * GIB]);
    await world.run(2);
    expect([await size(), await booked()]).toEqual([2 * GIB, 6 * GIB]);
    expect(events('VolumeExpanded')).toHaveLength(1);
  });

  test.each(TROUBLES)('$fault at effect $at: it has grown in the end, booked once', async ({ fault, at }) => {
    await aServedVolume();
    disturbOnce(fault, at);
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    await world.run(20);
    expect([await size(), await booked()]).toEqual([2 * GIB, 6 * GIB]);
  });

  test('is refused by name where a disk has no room, and when it would shrink', async () => {
    await aServedVolume();
    const refusal = requestExpand(world.useCases, { ...key(), sizeBytes: TIB });
    await expect(refusal).rejects.toThrow(/node-1\/disk-\d can't take .*node-2\/disk-\d can't take/);
    expect(await codeOf(requestExpand(world.useCases, { ...key(), sizeBytes: GIB / 2 }))).toBe(
      'request.invalid',
    );
    expect(await codeOf(requestExpand(world.useCases, { ...key(), sizeBytes: TIB }))).toBe(
      'volume.expansion_impossible',
    );
    expect(await booked()).toBe(3 * GIB);
  });

  test('a purge gives way to it, even one that runs', async () => {
    await aServedVolume();
    await requestPurge(world.useCases, key());
    await world.run(0.5);
    expect((await client.view()).volume.task?.startedEpoch).toBe(1);
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    await world.run(15);
    expect([await size(), events('VolumeTaskFailed')]).toEqual([2 * GIB, []]);
  });

  test.each([
    { fault: 'replica.too_many_layers' as const, name: 'for good', seconds: 2 },
    { fault: 'agent.refused' as const, name: 'again and again', seconds: 60 },
  ])(
    'one that is refused $name is given up, and what was booked is given back',
    async ({ fault, seconds }) => {
      await aServedVolume();
      const engine = world.node('node-1').engines.get(client.volumeId);
      if (engine === undefined) throw new Error('no engine serves the volume');
      engine.layers.expand = () => {
        throw new StorageFault(fault, { publicMessage: 'there are too many layers' });
      };
      await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
      expect(await booked()).toBe(6 * GIB);
      await world.run(seconds);
      expect((await client.view()).volume.task).toBeUndefined();
      expect([await size(), await booked()]).toEqual([GIB, 3 * GIB]);
      expect(events('VolumeTaskFailed')).toMatchObject([
        { message: expect.stringContaining('too many layers') },
      ]);
    },
  );

  test('one that is cancelled gives back what was booked; a copy that has grown meanwhile has the volume grow', async () => {
    await aServedVolume();
    const engine = world.node('node-1').engines.get(client.volumeId);
    if (engine === undefined) throw new Error('no engine serves the volume');
    const { expand } = engine.layers;
    engine.layers.expand = () => {
      throw new StorageFault('agent.refused', { publicMessage: 'not now' });
    };
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    await world.run(2);
    await cancelExpand(world.useCases, key());
    await cancelExpand(world.useCases, key());
    expect((await client.view()).volume.task).toBeUndefined();
    expect([await size(), await booked()]).toEqual([GIB, 3 * GIB]);
    expect(events('VolumeTaskCancelled')).toHaveLength(1);

    // The engine's answer is lost, and the cancellation comes before the next try.
    engine.layers.expand = (...asked: Parameters<typeof expand>) => {
      expand.apply(engine.layers, asked);
      throw new StorageFault('agent.unreachable', { publicMessage: 'the answer was lost' });
    };
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    await world.run(2);
    await cancelExpand(world.useCases, key());
    await requestSnapshot(world.useCases, { ...key(), name: 'has the layers read' });
    await world.run(15);
    expect([await size(), await booked()]).toEqual([2 * GIB, 6 * GIB]);
  });

  // As after the restore of a backup from before an expansion. A snapshot has the layers read.
  test.each<{ what: string; limit: number | undefined; sizes: number[]; event: string }>([
    { what: 'is taken over', limit: undefined, sizes: [2, 2], event: 'VolumeExpanded' },
    {
      what: 'that passes a quota waits until it may',
      limit: 1.5 * GIB,
      sizes: [1, 2],
      event: 'VolumeTaskFailed',
    },
  ])('a larger size of the copies $what, and the snapshot is there', async ({ limit, sizes, event }) => {
    await aServedVolume();
    const { volume } = await client.view();
    world
      .node('node-1')
      .engines.get(client.volumeId)
      ?.layers.expand(2 * GIB);
    if (limit !== undefined) world.store.setQuota('project', volume.projectId, { provisionedBytes: limit });
    const found: number[] = [];
    for (const name of ['a', 'b']) {
      await take(name);
      await world.run(2);
      found.push((await size()) / GIB);
      world.store.setQuota('project', volume.projectId, {});
    }
    expect(found).toEqual(sizes);
    expect(await booked()).toBe(6 * GIB);
    expect(await snapshots()).toEqual(['a ready', 'b ready']);
    expect(events(event)).toMatchObject([{ message: expect.stringContaining('2 GiB, as its copies') }]);
  });

  test('a rebuild waits for it, and says so', async () => {
    await aServedVolume();
    const { replicas } = await client.view();
    const victim = replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
    world.faults = { ...NO_FAULTS, onEffect: (name) => (name === 'expand' ? 'lost-before' : 'none') };
    await requestExpand(world.useCases, { ...key(), sizeBytes: 2 * GIB });
    await world.run(1);
    world.node('node-3').kill();
    await client.write();
    await world.run(12);
    world.startNode('node-3');
    await world.run(15);
    const { rebuilds } = await client.view();
    expect(rebuilds).toMatchObject([{ state: 'queued', waitingFor: 'the volume is being expanded' }]);
    world.faults = NO_FAULTS;
    const isDone = async () => (await client.view()).volume.robustness === 'healthy';
    expect(await world.runUntil(isDone, 60)).toBe(true);
    expect(await size()).toBe(2 * GIB);
    expect(victim).toBeDefined();
  });
});

test('what a new attach finds is shown, and nothing is done twice', async () => {
  await aServedVolume();
  const snapshotId: SnapshotId = await take('kept');
  await world.run(1);
  await requestDetach(world.useCases, key());
  await world.run(2);
  await requestAttach(world.useCases, { ...key(), nodeId: world.nodeId('node-2') });
  await world.run(5);
  const { volume, snapshots: kept } = await client.view();
  expect(kept.map(({ id }) => id)).toEqual([snapshotId]);
  expect(volume.chain?.key).toMatch(/^2\./);
  const { version } = volume;
  await world.run(10);
  expect((await client.view()).volume.version).toBe(version);
});

test('a copy that is built anew has the snapshots too', async () => {
  await aServedVolume();
  await take('everywhere');
  await world.run(1);
  const { replicas } = await client.view();
  const victim = replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
  if (victim === undefined) throw new Error('there is no copy on node-3');
  await requestReplicaRemoval(world.useCases, { ...key(), replicaId: victim.id });
  await world.run(1);
  const isWhole = async () => (await client.view()).replicas.filter(({ mode }) => mode === 'RW').length === 3;
  expect(await world.runUntil(isWhole, 60)).toBe(true);
  expect(layersOn('node-3')).toEqual(['everywhere']);
});
