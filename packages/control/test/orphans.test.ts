/** Copies whose rows went while their nodes were away: found, told, and removed only when that is wanted. */
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestOrphanRemoval } from '@holdfast/control/use-cases/request-orphan-removal.js';
import { asId } from '@holdfast/core/model/ids.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { beforeEach, describe, expect, jest, test } from '@jest/globals';

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aWorld();
  client = await aVolumeIn(world);
  await world.run(5);
});

const copiesOn = (name: string) => world.node(name).copies.size;
const types = () => world.store.events.map(({ type }) => type).filter((type) => type.startsWith('Orphan'));
const orphans = async () => (await world.store.loadOrphans(world.clusterId, 100)).orphans;

async function onlyOrphan() {
  const [found] = await orphans();
  if (found === undefined) throw new Error('there is no orphan');
  return found.orphan;
}

/** The volume goes while node-3 is away; then that node is back. */
async function leaveCopyOnNode3(): Promise<void> {
  world.node('node-3').kill();
  await world.run(30);
  await requestDelete(world.useCases, { volumeId: client.volumeId });
  await world.runUntil(async () => world.store.volumeIds.length === 0, 60);
  world.startNode('node-3');
  await world.run(20);
}

describe('a copy that outlived its volume', () => {
  test('is found once, told once, and stays', async () => {
    await leaveCopyOnNode3();
    await world.run(600);
    expect(copiesOn('node-3')).toBe(1);
    expect(types()).toEqual(['OrphanFound']);
    expect(await orphans()).toMatchObject([
      { nodeName: 'node-3', volume: undefined, orphan: { volumeId: client.volumeId } },
    ]);
  });

  test('goes when a person says so, and leaves the list', async () => {
    await leaveCopyOnNode3();
    const { id } = await onlyOrphan();
    await requestOrphanRemoval(world.useCases, { orphanId: id });
    await world.run(10);
    expect(copiesOn('node-3')).toBe(0);
    expect(await orphans()).toEqual([]);
    expect(types()).toEqual(['OrphanFound', 'OrphanRemoved']);
  });

  test('goes by the setting, after its grace time and not before', async () => {
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion', 'replica-data');
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion-grace-period', 120);
    await leaveCopyOnNode3();
    await world.run(80);
    expect(copiesOn('node-3')).toBe(1);
    await world.run(40);
    expect(copiesOn('node-3')).toBe(0);
    expect(types()).toEqual(['OrphanFound', 'OrphanRemoved']);
  });

  test('of a volume that this database never heard of stays, whatever the setting, and goes when a person says so', async () => {
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion', 'replica-data');
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion-grace-period', 0);
    // A database that was restored from before the volume was made knows of no deletion either.
    const restored = jest.spyOn(world.store, 'loadFoundCopies').mockResolvedValue([]);
    await leaveCopyOnNode3();
    await world.run(120);
    expect(copiesOn('node-3')).toBe(1);
    const { id, removal } = await onlyOrphan();
    expect(removal?.trouble?.message).toContain('as the only current one');
    restored.mockRestore();
    await requestOrphanRemoval(world.useCases, { orphanId: id });
    await world.run(60);
    expect(copiesOn('node-3')).toBe(0);
  });

  test('whose disk is of another cluster is told of with that cluster, and the setting does not remove it', async () => {
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion', 'replica-data');
    world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion-grace-period', 0);
    for (const { volume } of world.node('node-3').copies.values()) {
      if (volume !== undefined) volume.clusterId = asId('another');
    }
    await leaveCopyOnNode3();
    await world.run(600);
    expect(copiesOn('node-3')).toBe(1);
    const told = world.store.events.filter(({ type }) => type.startsWith('Orphan'));
    expect(told.map(({ message }) => message)).toEqual([expect.stringContaining('of the cluster another;')]);
  });

  test('is not removed by its agent once it has been used since it was reported', async () => {
    await leaveCopyOnNode3();
    const { volumeId, diskId, replicaId, nodeId } = await onlyOrphan();
    for (const copy of world.node('node-3').copies.values()) {
      copy.record = { epoch: 7, dataGeneration: 0, members: [] };
    }
    const target = await world.store.agentOf(nodeId);
    if (target === undefined) throw new Error('there is no agent');
    const ask = { volumeId, diskId, record: { epoch: 1, dataGeneration: 1, members: [] } };
    const removal = world.reconcilers.agents.removeOrphan(target, replicaId, ask);
    await expect(removal).rejects.toMatchObject({ code: 'agent.refused' });
    expect(copiesOn('node-3')).toBe(1);
  });

  test('is removed in the end although its node dies meanwhile', async () => {
    await leaveCopyOnNode3();
    const { id } = await onlyOrphan();
    await requestOrphanRemoval(world.useCases, { orphanId: id });
    world.node('node-3').kill();
    await world.run(60);
    expect(copiesOn('node-3')).toBe(1);
    world.startNode('node-3');
    await world.run(60);
    expect(copiesOn('node-3')).toBe(0);
    expect(types()).toEqual(['OrphanFound', 'OrphanRemoved']);
  });
});

test('deleting and making volumes makes no orphans, and wakes no reconciler for them', async () => {
  for (let round = 0; round < 3; round += 1) {
    await requestDelete(world.useCases, { volumeId: client.volumeId });
    await world.run(10);
    client = await aVolumeIn(world);
    await world.run(10);
  }
  expect(types()).toEqual([]);
});

test('an engine left on a node that was cut off writes nothing, and stays whatever the setting says', async () => {
  world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion', 'instance');
  world.store.setSetting(world.clusterId, 'orphan-resource-auto-deletion-grace-period', 0);
  await attach(world, client, 'node-1');
  const cutOff = world.node('node-1');
  cutOff.isConnected = false;
  await world.run(20);
  await requestDetach(world.useCases, { volumeId: client.volumeId, force: true });
  await world.run(5);
  await attach(world, client, 'node-2');
  cutOff.isConnected = true;
  await world.run(60);
  const left = cutOff.engines.get(client.volumeId);
  expect(await left?.write(1)).toBe(false);
  expect(left?.report().state).toBe('stopped');
  expect(holderOf((await client.view()).volume)).toBe(world.nodeId('node-2'));
  expect(await client.write()).toBe(true);
});
