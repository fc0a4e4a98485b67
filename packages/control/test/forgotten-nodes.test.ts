/** Forgetting a node that is gone for good: what becomes of its volumes, and of the node should it return. */
import { forgetNode } from '@holdfast/control/use-cases/forget-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { VolumeId } from '@holdfast/core/model/ids.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, codeOf } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';

let world: World;
let client: SimClient;

/** Three nodes, each with a copy of one volume. */
beforeEach(async () => {
  world = new World();
  for (const name of ['n1', 'n2', 'n3']) world.addNode(name, { diskBytes: [100 * GIB] });
  await world.run(2);
  client = await aVolumeIn(world, { numberOfReplicas: 3 });
  await world.run(5);
});

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const forget = (name: string, acceptedLosses: readonly VolumeId[] = []) =>
  forgetNode(world.useCases, { clusterId: world.clusterId, nodeId: world.nodeId(name), acceptedLosses });
const nodeNames = () => [...world.store.tables.nodes.values()].map(({ name }) => name).sort();
const view = async () => {
  const found = await world.store.loadVolume(client.volumeId);
  if (found === undefined) throw new Error('the volume is there');
  return found;
};

async function killed(name: string): Promise<void> {
  world.node(name).kill();
  await world.run(20);
}

test('a node whose agent runs is not forgotten', async () => {
  expect(await codeOf(forget('n3'))).toBe('node.in_use');
  expect(nodeNames()).toEqual(['n1', 'n2', 'n3']);
});

test('a node goes at once where no other one has a place, and the volume is built up when one comes', async () => {
  await attach(world, client, 'n1');
  await client.write();
  await killed('n3');
  await forget('n3');
  await world.run(30);
  expect(nodeNames()).toEqual(['n1', 'n2']);

  world.addNode('n4', { diskBytes: [100 * GIB] });
  await world.run(120);
  expect((await view()).replicas.filter(isHealthy)).toHaveLength(3);
});

test('the volume that it served goes on elsewhere without a forced detach', async () => {
  await attach(world, client, 'n3');
  await client.write();
  await killed('n3');
  await forget('n3');
  await world.run(30);
  const { volume, fleet } = await view();
  expect(volume.lifecycle.state).toBe('attached');
  expect(fleet.nodes.map(({ id }) => id)).toContain(holderOf(volume));
});

test('one that returns in the midst of it is not heard, and its copies stay failed', async () => {
  world.addNode('n4', { diskBytes: [100 * GIB] });
  await world.run(2);
  await patchVolume(world.useCases, { volumeId: client.volumeId, patch: { offlineRebuilding: 'disabled' } });
  await killed('n3');
  await forget('n3');
  world.startNode('n3');
  await world.run(1);
  const kept = (await view()).replicas.find(
    ({ nodeId }) => nodeId !== undefined && nodeId === world.nodeId('n3'),
  );
  expect(kept?.failedAt).toBeDefined();
  expect(world.store.events.some(({ type }) => type === 'AgentRefused')).toBe(true);
});

test('the only copy is given up only when its volume is named', async () => {
  await killed('n2');
  await killed('n3');
  await forget('n2');
  await world.run(30);
  expect(await codeOf(forget('n3'))).toBe('node.holds_only_copy');
  await forget('n3', [client.volumeId]);
  await world.run(30);
  expect(nodeNames()).toEqual(['n1']);
  expect((await view()).replicas).toHaveLength(1);
});
