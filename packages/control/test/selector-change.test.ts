/** Selectors and tags that change: copies that no longer match are told, and moved only where the setting says so. */
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { conditionOf } from '@holdfast/core/model/condition.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { aClusterOf, eventTypes, servedVolume, setIn, spread, spreadsTo } from './moving-copies.js';

const RELOCATE = 'replica-relocate-on-selector-change';

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aClusterOf(['n1', 'n2', 'n3', 'n4']);
  for (const name of ['n1', 'n2', 'n3']) await tag(name, ['ssd']);
  client = await servedVolume(world, { nodeSelector: ['ssd'] });
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

async function tag(name: string, tags: string[]): Promise<void> {
  const { clusterId } = world;
  await patchNode(world.useCases, { clusterId, nodeId: world.nodeId(name), patch: { tags } });
}

const shown = async () => conditionOf((await client.view()).volume.conditions, 'PlacementFits');

test('a tag that is taken off a node is told, and nothing moves', async () => {
  await tag('n4', ['ssd']);
  await tag('n3', []);
  await world.run(120);
  expect(await shown()).toMatchObject({ status: 'False', reason: 'NodeTagsMissing' });
  expect((await shown())?.message).toContain('node n3 lacks a tag of [ssd]');
  expect(await spread(world, client)).toBe('1/1/1/0');

  await tag('n3', ['ssd']);
  await world.run(10);
  expect((await shown())?.status).toBe('True');
  expect(eventTypes(world)).toEqual(expect.arrayContaining(['VolumePlacementUnfit', 'VolumePlacementFits']));
});

test('with the setting on, the copy moves as soon as there is a place', async () => {
  setIn(world, RELOCATE, true);
  await tag('n3', []);
  await world.run(60);
  expect(await spread(world, client)).toBe('1/1/1/0');
  await tag('n4', ['ssd']);
  expect(await spreadsTo(world, client, '1/1/0/1', 60)).toEqual({ isReached: true, findings: [] });
  await world.run(10);
  expect((await shown())?.status).toBe('True');
});

test('a detached volume says that it moves once it is attached, and does', async () => {
  setIn(world, RELOCATE, true);
  const { volumeId } = client;
  await requestDetach(world.useCases, { volumeId });
  expect(
    await world.runUntil(async () => (await client.view()).volume.lifecycle.state === 'detached', 60),
  ).toBe(true);
  await tag('n4', ['ssd']);
  await tag('n3', []);
  await world.run(120);
  expect((await shown())?.message).toContain('each is moved once the volume is attached');
  await requestAttach(world.useCases, { volumeId, nodeId: world.nodeId('n1') });
  expect(await world.runUntil(async () => (await spread(world, client)) === '1/1/0/1', 120)).toBe(true);
});

test('a node that is relabelled out of the zones of a volume is the same', async () => {
  setIn(world, RELOCATE, true);
  const relabel = (name: string, zone: string) =>
    patchNode(world.useCases, {
      clusterId: world.clusterId,
      nodeId: world.nodeId(name),
      patch: { zone },
    });
  for (const name of ['n1', 'n2', 'n3', 'n4']) await relabel(name, 'z1');
  const zoned = await servedVolume(world, { name: 'zoned', topologyRequirement: [{ zone: 'z1' }] });
  const before = await spread(world, zoned);
  const left = ['n1', 'n2', 'n3', 'n4'].filter((_, index) => before.split('/')[index] === '1')[1] ?? '';
  await relabel(left, 'z2');
  const isElsewhere = async () => {
    const { replicas } = await zoned.view();
    return replicas.length === 3 && replicas.every(({ nodeId }) => nodeId !== world.nodeId(left));
  };
  expect(await world.runUntil(isElsewhere, 90)).toBe(true);
});

test('a selector of the volume that changes is the same', async () => {
  setIn(world, RELOCATE, true);
  await tag('n4', ['nvme']);
  await tag('n1', ['ssd', 'nvme']);
  await tag('n2', ['ssd', 'nvme']);
  await patchVolume(world.useCases, { volumeId: client.volumeId, patch: { nodeSelector: ['nvme'] } });
  expect(await spreadsTo(world, client, '1/1/0/1', 60)).toEqual({ isReached: true, findings: [] });
});

test('the replacement is dropped where the old place matches again', async () => {
  setIn(world, RELOCATE, true);
  await tag('n4', ['ssd']);
  await tag('n3', []);
  const isMoving = async () => (await client.view()).replicas.some(({ mode }) => mode === 'WO');
  expect(await world.runUntil(isMoving, 60)).toBe(true);
  await tag('n3', ['ssd']);
  await world.run(60);
  expect(await spread(world, client)).toBe('1/1/1/0');
  expect((await client.view()).replicas).toHaveLength(3);
});
