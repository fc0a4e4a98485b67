/** Taking a node out for a while: cordons, and maintenance windows with what is waited for and what is made all the same. */
import { cordonNode, uncordonNode } from '@holdfast/control/use-cases/cordon-node.js';
import { endMaintenance, startMaintenance } from '@holdfast/control/use-cases/maintain-node.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

const WAIT_SECONDS = 600;
const WINDOW_SECONDS = 3600;

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aWorld();
  client = await aVolumeIn(world);
  await attach(world, client, 'node-1');
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', WAIT_SECONDS);
  world.addNode('node-4', { zone: 'zone-c' });
  await world.run(5);
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const keyOf = (name: string) => ({ clusterId: world.clusterId, nodeId: world.nodeId(name) });

function maintain(name: string, seconds = WINDOW_SECONDS): Promise<void> {
  const until = new Date(world.clock.now().getTime() + seconds * 1000);
  return startMaintenance(world.useCases, { ...keyOf(name), maintenance: { until, reason: 'new disks' } });
}

/** The node of each full copy. */
async function copies(): Promise<string[]> {
  const { replicas, fleet } = await client.view();
  return replicas
    .filter(isHealthy)
    .map(({ nodeId }) => fleet.nodes.find(({ id }) => id === nodeId)?.name ?? '')
    .sort();
}

async function waitsFor(): Promise<string | undefined> {
  const { volume } = await client.view();
  const condition = conditionOf(volume.conditions, 'RebuildWaiting');
  return condition?.status === 'True' ? condition.reason : undefined;
}

async function die(name: string): Promise<void> {
  world.node(name).kill();
  await client.write();
}

async function windowOf(name: string) {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  return nodes.find((node) => node.name === name)?.maintenance;
}

test('nothing is built for what only that node lost; when it is back, its own copy is brought up to date', async () => {
  await maintain('node-3');
  await die('node-3');
  await world.run(2 * WAIT_SECONDS);
  expect(await copies()).toEqual(['node-1', 'node-2']);
  expect(await waitsFor()).toBe('NodeMaintenance');

  world.startNode('node-3');
  await world.run(120);
  expect(await copies()).toEqual(['node-1', 'node-2', 'node-3']);
  expect(await windowOf('node-3')).toMatchObject({ reason: 'new disks' });
});

test('at its end the window closes, and the missing copy is built elsewhere', async () => {
  await maintain('node-3');
  await die('node-3');
  await world.run(WINDOW_SECONDS - 60);
  expect(await copies()).toEqual(['node-1', 'node-2']);
  await world.run(180);
  expect(await windowOf('node-3')).toBeUndefined();
  expect(await copies()).toEqual(['node-1', 'node-2', 'node-4']);
});

test('one that is ended before its time leaves the usual wait, which is over', async () => {
  await maintain('node-3');
  await die('node-3');
  await world.run(2 * WAIT_SECONDS);
  await endMaintenance(world.useCases, keyOf('node-3'));
  await world.run(120);
  expect(await copies()).toEqual(['node-1', 'node-2', 'node-4']);
});

test('a volume that is down to its last copy is rebuilt all the same', async () => {
  await maintain('node-2');
  await maintain('node-3');
  await die('node-3');
  await die('node-2');
  await world.run(WAIT_SECONDS + 120);
  expect(await copies()).toEqual(['node-1', 'node-4']);
  // With two copies again, what is still missing is waited for as the window says.
  expect(await waitsFor()).toBe('NodeMaintenance');
});

test('a cordoned node keeps its copies and gets no other ones', async () => {
  await cordonNode(world.useCases, keyOf('node-4'));
  await die('node-3');
  await world.run(2 * WAIT_SECONDS);
  expect(await copies()).toEqual(['node-1', 'node-2']);
  await uncordonNode(world.useCases, keyOf('node-4'));
  await cordonNode(world.useCases, keyOf('node-2'));
  await world.run(120);
  expect(await copies()).toEqual(['node-1', 'node-2', 'node-4']);
});
