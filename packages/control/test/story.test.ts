import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDelete } from '@holdfast/control/use-cases/request-delete.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import { EVENT_TYPES } from '@holdfast/core/model/event-types.js';
import { isFault } from '@holdfast/core/model/faults.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, describe, expect, test } from '@jest/globals';

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

async function aServedVolume(): Promise<SimClient> {
  world = await aWorld();
  const client = await aVolumeIn(world);
  await world.run(1);
  await attach(world, client, 'node-1');
  expect(await client.write()).toBe(true);
  return client;
}

const robustness = async (client: SimClient) => (await client.view()).volume.robustness;
const becomes = (client: SimClient, wanted: string, seconds: number) =>
  world.runUntil(async () => (await robustness(client)) === wanted, seconds);

describe('the main story', () => {
  test('a new volume gets one copy in each zone and is served where it was asked for', async () => {
    const client = await aServedVolume();
    const { volume, replicas, fleet } = await client.view();
    const zones = replicas.map(({ nodeId }) => fleet.nodes.find(({ id }) => id === nodeId)?.zone);
    expect(zones.sort()).toEqual(['zone-a', 'zone-b', 'zone-c']);
    expect(volume).toMatchObject({ lifecycle: { state: 'attached' }, robustness: 'healthy', epoch: 1 });
    expect(volume.conditions).toMatchObject([{ type: 'Scheduled', status: 'True' }]);
    expect(replicas.map(({ mode }) => mode)).toEqual(['RW', 'RW', 'RW']);
  });

  test('a lost node degrades it; when its agent returns the same replica is reused and rebuilt', async () => {
    const client = await aServedVolume();
    const before = (await client.view()).replicas.map(({ id }) => id);
    world.node('node-3').kill();
    expect(await client.write()).toBe(true);
    expect(await becomes(client, 'degraded', 15)).toBe(true);
    await world.run(60);
    expect(await client.write()).toBe(true);
    world.startNode('node-3');
    expect(await becomes(client, 'healthy', 60)).toBe(true);

    const { replicas, rebuilds } = await client.view();
    expect(replicas.map(({ id }) => id)).toEqual(before);
    expect(rebuilds.map(({ state }) => state)).toEqual(['succeeded']);
    expect(await client.missing()).toEqual([]);
  });

  test('with the wait at 0 and a fourth node a new replica is built there', async () => {
    const client = await aServedVolume();
    world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 0);
    world.addNode('node-4', { zone: 'zone-a' });
    await world.run(2);
    world.node('node-3').kill();
    await world.run(12);
    expect(await becomes(client, 'healthy', 30)).toBe(true);
    const { replicas } = await client.view();
    const healthy = replicas.filter(({ mode }) => mode === 'RW').map(({ nodeId }) => nodeId);
    expect(healthy).toContain(world.nodeId('node-4'));
    expect(await client.missing()).toEqual([]);
  });

  test("when its engine's node dies it says where it hangs; a forced detach lets it go on elsewhere", async () => {
    const client = await aServedVolume();
    world.node('node-1').kill();
    expect(await client.write()).toBe(false);
    expect(await becomes(client, 'unknown', 15)).toBe(true);
    const { volume } = await client.view();
    expect(volume.attention).toMatchObject({ code: 'HolderUnreachable' });
    expect(volume.attention?.message).toContain('node-1');
    expect(volume.attention?.cures.join()).toContain('detach it by force');

    const { volumeId } = client;
    const refusal = await requestDetach(world.useCases, { volumeId }).catch((error: unknown) => error);
    expect(isFault(refusal, 'volume.holder_unreachable')).toBe(true);
    await requestDetach(world.useCases, { volumeId, force: true });
    await requestAttach(world.useCases, { volumeId, nodeId: world.nodeId('node-2') });
    await world.runUntil(async () => (await client.view()).volume.lifecycle.state === 'attached', 30);
    expect((await client.view()).volume).toMatchObject({
      epoch: 2,
      lifecycle: { grant: { nodeId: world.nodeId('node-2') } },
    });
    expect(await client.missing()).toEqual([]);
    expect(await client.write()).toBe(true);

    world.startNode('node-1');
    expect(await becomes(client, 'healthy', 60)).toBe(true);
    const { rebuilds } = await client.view();
    expect(rebuilds).toMatchObject([{ state: 'succeeded', targetNodeId: world.nodeId('node-1') }]);
    expect(await client.missing()).toEqual([]);
  });

  test('a cut-off engine loses its volume, and what it then acknowledges is nothing', async () => {
    const client = await aServedVolume();
    const cutOff = world.node('node-1');
    cutOff.isConnected = false;
    await world.run(15);
    const { volumeId } = client;
    await requestDetach(world.useCases, { volumeId, force: true });
    await attach(world, client, 'node-2');
    expect(await cutOff.engines.get(volumeId)?.write(999)).toBe(false);
    cutOff.isConnected = true;
    expect(await becomes(client, 'healthy', 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('an engine that its agent has lost is replaced on the same node', async () => {
    const client = await aServedVolume();
    await world.run(30);
    world.node('node-1').engines.clear();
    await world.run(5);
    expect((await client.view()).volume.attention).toMatchObject({ code: 'EngineMissing' });
    expect((await client.view()).volume.epoch).toBe(1);
    await world.run(15);
    const { volume } = await client.view();
    const lifecycle = { state: 'attached', grant: { nodeId: world.nodeId('node-1') } };
    expect(volume).toMatchObject({ lifecycle, robustness: 'healthy', epoch: 2 });
    expect(volume.attention).toBeUndefined();
    expect(await client.write()).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('after a restart of everything it is served again without a request', async () => {
    const client = await aServedVolume();
    for (const { name } of world.nodes) world.node(name).kill();
    await world.run(30);
    for (const { name } of world.nodes) {
      world.startNode(name);
      await world.run(2);
    }
    const isServed = async () => {
      const { volume } = await client.view();
      return volume.lifecycle.state === 'attached' && volume.robustness === 'healthy' && volume.epoch === 2;
    };
    expect(await world.runUntil(isServed, 30)).toBe(true);
    expect((await client.view()).rebuilds).toEqual([]);
    expect(await client.missing()).toEqual([]);
  });

  test('a stop and a start of the whole stack looks like no failure', async () => {
    const client = await aServedVolume();
    const failures = () =>
      world.store.events
        .filter(({ type }) => EVENT_TYPES[type].severity !== 'info')
        .map(({ type, message }) => `${type}: ${message}`);
    world.standStill(3600);
    await world.run(5);
    for (const { name } of world.nodes) {
      world.startNode(name);
      await world.run(1);
    }
    expect(await becomes(client, 'healthy', 30)).toBe(true);
    await world.run(30);
    expect((await client.view()).volume).toMatchObject({
      lifecycle: { state: 'attached' },
      robustness: 'healthy',
    });
    expect(failures()).toEqual([]);
    expect(await client.missing()).toEqual([]);
  });

  test('a node that does not come back with the rest of the stack is noticed', async () => {
    const client = await aServedVolume();
    world.standStill(3600);
    world.startNode('node-1');
    world.startNode('node-2');
    const isNoticed = () =>
      Promise.resolve(world.store.events.some(({ message }) => message === 'node node-3 does not answer'));
    expect(await world.runUntil(isNoticed, 9)).toBe(false);
    expect(await world.runUntil(isNoticed, 6)).toBe(true);
    expect(await becomes(client, 'degraded', 30)).toBe(true);
    expect(await client.write()).toBe(true);
  });

  test('detached, all copies are equal; then it can be deleted and leaves nothing', async () => {
    const client = await aServedVolume();
    const { volumeId } = client;
    const early = await requestVerify(world.useCases, { volumeId }).catch((error: unknown) => error);
    expect(isFault(early, 'volume.attached')).toBe(true);
    await requestDetach(world.useCases, { volumeId });
    await world.run(5);
    expect((await client.view()).volume).toMatchObject({
      lifecycle: { state: 'detached' },
      robustness: 'healthy',
    });
    await requestVerify(world.useCases, { volumeId });
    await world.run(2);
    expect((await client.view()).volume.verification).toMatchObject({ state: 'done', equal: true });
    await requestDelete(world.useCases, { volumeId });
    await world.run(5);
    expect(world.store.volumeIds).toEqual([]);
    expect(world.nodes.map(({ copies }) => copies.size)).toEqual([0, 0, 0]);
    const { disks } = await world.store.loadFleet(world.clusterId);
    expect(disks.map(({ storageScheduledBytes }) => storageScheduledBytes)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('of two that race to attach one wins, the other learns who holds it', async () => {
    world = await aWorld();
    const { volumeId } = await aVolumeIn(world);
    const results = await Promise.allSettled(
      ['node-1', 'node-2'].map((name) =>
        requestAttach(world.useCases, { volumeId, nodeId: world.nodeId(name) }),
      ),
    );
    const lost = results.find((result) => result.status === 'rejected');
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(isFault(lost?.reason, 'volume.attached_elsewhere')).toBe(true);
    expect(String(lost?.reason)).toContain('node-1, which is alive');
  });
});
