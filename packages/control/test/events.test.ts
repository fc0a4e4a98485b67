/** Every transition is told once, by the type that the registry has for it. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { cordonNode, uncordonNode } from '@holdfast/control/use-cases/cordon-node.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { EventType } from '@holdfast/core/model/event-types.js';
import { isActiveRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { beforeEach, expect, test } from '@jest/globals';

let world: World;
/** Events told before the moment that a test looks at. */
let seen: number;

beforeEach(async () => {
  world = await aWorld();
  seen = world.store.events.length;
});

function told(): EventType[] {
  return world.store.events.slice(seen).map(({ type }) => type);
}

function messages(type: EventType): string[] {
  return world.store.events
    .slice(seen)
    .filter((event) => event.type === type)
    .map(({ message }) => message);
}

function node(name: string) {
  return { clusterId: world.clusterId, nodeId: world.nodeId(name) };
}

async function disk() {
  const { disks } = await world.store.loadFleet(world.clusterId);
  const { id: diskId } = disks.find(({ nodeId }) => nodeId === world.nodeId('node-1')) ?? {};
  if (diskId === undefined) throw new Error('node-1 has no disk');
  return { clusterId: world.clusterId, diskId };
}

async function rebuildOf(client: SimClient): Promise<Rebuild> {
  const active = async () => (await client.view()).rebuilds.find(isActiveRebuild);
  await world.runUntil(async () => (await active()) !== undefined, 20);
  const rebuild = await active();
  if (rebuild === undefined) throw new Error('no rebuild is active');
  return rebuild;
}

test('a setting that gets another value is told with both, and one that keeps it is not', () => {
  const set = (value: number) =>
    world.store.setSetting(world.clusterId, 'event-retention-days', value, world.clock.now());
  set(7);
  set(7);
  expect(messages('SettingChanged')).toEqual(['event-retention-days is 7, was 30']);
});

test('what users want of a node is told as what it is', async () => {
  await cordonNode(world.useCases, node('node-1'));
  await uncordonNode(world.useCases, node('node-1'));
  const emptied = { allowScheduling: false, evictionRequested: true };
  await patchNode(world.useCases, { ...node('node-1'), patch: emptied });
  await patchNode(world.useCases, { ...node('node-1'), patch: { evictionRequested: false, tags: ['ssd'] } });
  expect(told()).toEqual([
    'NodeCordoned',
    'NodeUncordoned',
    'NodeEvictionRequested',
    'NodeChanged',
    'NodeEvictionCancelled',
    'NodeChanged',
  ]);
  expect(messages('NodeChanged')[1]).toBe('node node-1: tags: ssd, was none');
});

test('what users want of a disk is told as what it is', async () => {
  const key = await disk();
  const emptied = { allowScheduling: false, evictionRequested: true };
  await patchDisk(world.useCases, { ...key, patch: emptied });
  await patchDisk(world.useCases, { ...key, patch: { evictionRequested: false } });
  expect(told()).toEqual(['DiskChanged', 'DiskEvictionRequested', 'DiskEvictionCancelled']);
});

test('a disk that fills up takes no replica, and tells it once each way', async () => {
  const [first] = world.node('node-1').disks;
  if (first === undefined) throw new Error('node-1 has no disk');
  first.availableBytes = GIB;
  await world.run(20);
  first.availableBytes = first.maximumBytes;
  await world.run(20);
  expect(told()).toEqual(['DiskUnschedulable', 'DiskSchedulable']);
});

test('a change of a volume names each field, and a replica without a place is told until it has one', async () => {
  const { volumeId } = await aServedVolumeIn(world);
  seen = world.store.events.length;
  await patchVolume(world.useCases, { volumeId, patch: { numberOfReplicas: 4 } });
  await world.run(10);
  await patchVolume(world.useCases, { volumeId, patch: { numberOfReplicas: 3 } });
  await world.run(10);
  expect(messages('VolumeChanged')[0]).toBe('volume pg-data: number of replicas: 4, was 3');
  const scheduling = told().filter((type) => type.endsWith('cheduled'));
  expect(scheduling).toEqual(['VolumeUnscheduled', 'VolumeScheduled']);
});

test('a rebuild is told when it is queued, started, paused, let go on and cancelled', async () => {
  const client = await aServedVolumeIn(world);
  const { volumeId } = client;
  const victim = (await client.view()).replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
  if (victim === undefined) throw new Error('node-3 holds no copy');
  await requestReplicaRemoval(world.useCases, { volumeId, replicaId: victim.id });
  const { id: rebuildId } = await rebuildOf(client);
  await tuneRebuild(world.useCases, { volumeId, rebuildId, paused: true });
  await tuneRebuild(world.useCases, { volumeId, rebuildId, paused: true });
  await tuneRebuild(world.useCases, { volumeId, rebuildId, paused: false });
  await cancelRebuild(world.useCases, { volumeId, rebuildId });
  expect(told().filter((type) => type.startsWith('Rebuild'))).toEqual([
    'RebuildQueued',
    'RebuildStarted',
    'RebuildPaused',
    'RebuildResumed',
    'RebuildCancelled',
  ]);
});
