/** Nodes and disks that are away for a moment, that come back, fill up, or turn up on another node. */
import { addDisk } from '@holdfast/control/use-cases/add-disk.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { removeDisk } from '@holdfast/control/use-cases/remove-disk.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { asId, type DiskId, type ReplicaId } from '@holdfast/core/model/ids.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, attach, aVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aWorld();
  client = await aServedVolumeIn(world);
  world.addNode('node-4', { zone: 'zone-d' });
  await world.run(5);
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

test('a node that is silent for a moment keeps its replicas, and none is built elsewhere', async () => {
  const before = await replicaIds();
  await silence('node-2', 15);
  const { volume } = await client.view();
  expect([await replicaIds(), volume.robustness]).toEqual([before, 'healthy']);
});

test('to a detached volume it is nothing until the wait for failed copies is over', async () => {
  world.store.setSetting(world.clusterId, 'offline-replica-rebuilding', true);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
  const before = await replicaIds();
  await silence('node-2', 60);
  expect([await replicaIds(), (await client.view()).rebuilds]).toEqual([before, []]);
});

describe('a disk that is taken off its node', () => {
  const fleetDisk = async (id: string) =>
    (await world.store.loadFleet(world.clusterId)).disks.find((disk) => disk.id === id);
  const spare = () => {
    const [disk] = world.node('node-4').disks;
    if (disk === undefined) throw new Error('node-4 has no disk');
    return disk;
  };
  const takeOff = ({ id }: { id: DiskId }) => {
    const { clusterId } = world;
    return codeOf(removeDisk(world.useCases, { clusterId, diskId: id, orphans: 0 }));
  };
  const isGone = (id: string) => world.runUntil(async () => (await fleetDisk(id)) === undefined, 30);

  test('is let go of by its agent while it is empty, and is there again once it is added', async () => {
    const disk = spare();
    const held = world
      .node('node-1')
      .disks.find(({ id }) => [...world.node('node-1').copies.values()].some(({ diskId }) => diskId === id));
    if (held === undefined) throw new Error('node-1 holds no copy');
    expect(await takeOff(held)).toBe('disk.in_use');
    expect(await takeOff(disk)).toBe('done');
    expect(await isGone(disk.id)).toBe(true);
    expect(world.node('node-4').disks).not.toContain(disk);
    await addDisk(world.useCases, {
      clusterId: world.clusterId,
      nodeId: world.nodeId('node-4'),
      disk: {
        path: '/disks/back',
        name: 'back',
        type: 'filesystem',
        sizeBytes: GIB,
        tags: [],
        allowScheduling: true,
        storageReservedBytes: 0,
      },
    });
    await world.run(2);
    const names = (await world.store.loadFleet(world.clusterId)).disks
      .filter(
        ({ nodeId, conditions }) =>
          nodeId === world.nodeId('node-4') && conditionOf(conditions, 'Ready')?.status === 'True',
      )
      .map(({ name }) => name);
    expect(names).toContain('back');
  });

  test('is kept while it has vanished, takes nothing meanwhile, and is let go of when it is back', async () => {
    const disk = spare();
    disk.isGone = true;
    await world.run(2);
    expect(await takeOff(disk)).toBe('done');
    await world.run(10);
    expect(await fleetDisk(disk.id)).toMatchObject({ allowScheduling: false });
    const opened = { clusterId: world.clusterId, diskId: disk.id, patch: { allowScheduling: true } };
    expect(await codeOf(patchDisk(world.useCases, opened))).toBe('request.invalid');
    expect(await fleetDisk(disk.id)).toMatchObject({ allowScheduling: false });
    disk.isGone = false;
    expect(await isGone(disk.id)).toBe(true);
  });

  test('keeps a copy that no report has told of yet', async () => {
    const disk = spare();
    expect(await takeOff(disk)).toBe('done');
    const [copy] = world.node('node-1').copies.values();
    if (copy === undefined) throw new Error('node-1 holds no copy');
    const stray = { ...copy, diskId: disk.id, replicaId: asId<ReplicaId>('stray') };
    world.node('node-4').copies.set(stray.replicaId, stray);
    await world.run(10);
    expect(world.node('node-4').disks).toContain(disk);
    world.node('node-4').copies.delete(stray.replicaId);
    expect(await isGone(disk.id)).toBe(true);
  });
});

test('a node that is gone and holds nothing is forgotten, and is a new one when it comes back', async () => {
  const before = world.nodeId('node-4');
  expect(world.store.deleteNode(before)).toBe('ready');
  expect(world.store.deleteNode(world.nodeId('node-1'))).toBe('holds-replicas');
  world.node('node-4').kill();
  await world.run(20);
  expect(world.store.deleteNode(before)).toBe('deleted');
  const { nodes, disks } = await world.store.loadFleet(world.clusterId);
  expect(nodes.map(({ name }) => name)).not.toContain('node-4');
  expect(disks.filter(({ nodeId }) => nodeId === before)).toEqual([]);
  world.startNode('node-4');
  await world.run(5);
  expect(world.nodeId('node-4')).not.toBe(before);
});

test('a disk goes with its copies to the node that it is put into, and nothing is copied', async () => {
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
  const from = world.node('node-2');
  const [replicaId] = [...from.copies.keys()];
  const disk = from.disks.find(({ id }) => id === from.copies.get(replicaId ?? idOfNone())?.diskId);
  if (disk === undefined) throw new Error('node-2 holds no copy');
  from.kill();
  await world.run(20);
  from.moveDisk(disk, world.node('node-4'));
  await world.run(10);
  const { replicas } = await client.view();
  expect(replicas.find(({ id }) => id === replicaId)).toMatchObject({ nodeId: world.nodeId('node-4') });
  expect(world.store.events.map(({ type }) => type)).toContain('DiskMoved');

  // Its old node comes back without it.
  world.startNode('node-2');
  await world.run(10);
  await attach(world, client, 'node-1');
  await world.run(10);
  const view = await client.view();
  expect([view.replicas.filter(isHealthy).length, view.rebuilds]).toEqual([3, []]);
  expect(await client.missing()).toEqual([]);
});

test('a disk that is not there takes no replica until it is back', async () => {
  for (const disk of world.node('node-4').disks) disk.isGone = true;
  await world.run(10);
  expect(await nodesOfNewVolume('while-it-is-gone')).not.toContain(world.nodeId('node-4'));
  for (const disk of world.node('node-4').disks) disk.isGone = false;
  await world.run(10);
  expect(await nodesOfNewVolume('when-it-is-back')).toContain(world.nodeId('node-4'));
});

test('a disk that fills up takes no replica, says so once, and takes them again when there is room', async () => {
  const { disks } = world.node('node-4');
  for (const disk of disks) disk.availableBytes = 0;
  await world.run(10);
  const conditions = async () => {
    const fleet = await world.store.loadFleet(world.clusterId);
    const own = fleet.disks.filter(({ nodeId }) => nodeId === world.nodeId('node-4'));
    return own.map((disk) => conditionOf(disk.conditions, 'Schedulable')?.reason);
  };
  expect(await conditions()).toEqual(['DiskPressure', 'DiskPressure']);
  expect(await nodesOfNewVolume('while-it-is-full')).not.toContain(world.nodeId('node-4'));
  for (const disk of disks) disk.availableBytes = disk.maximumBytes;
  await world.run(10);
  expect(await conditions()).toEqual(['', '']);
  const told = world.store.events.filter(({ type }) => type === 'DiskUnschedulable');
  expect(told.length).toBe(2);
});

async function silence(name: string, seconds: number): Promise<void> {
  world.node(name).isConnected = false;
  await world.run(seconds);
  world.node(name).isConnected = true;
  await world.run(60);
}

async function replicaIds(): Promise<string[]> {
  return (await client.view()).replicas.map(({ id }) => id);
}

function idOfNone(): never {
  throw new Error('node-2 holds no copy');
}

/** A volume of three copies goes to the emptiest nodes, of which node-4 is one. */
async function nodesOfNewVolume(name: string) {
  const other = await aVolumeIn(world, { name });
  await world.run(5);
  return (await other.view()).replicas.map(({ nodeId }) => nodeId);
}
