/**
 * Strict data locality while the worker moves the only copy: users are served on the node of a full copy, also when they take
 * the volume over from an engine whose node is dead.
 */
import { moveReplica } from '@holdfast/control/use-cases/move-replica.js';
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { isActiveRebuild } from '@holdfast/core/model/rebuild.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { holderOf, isRepairing } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, codeOf } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { aClusterOf, switchNode } from './moving-copies.js';

let world: World;
let client: SimClient;

beforeEach(async () => {
  world = await aClusterOf(['n1', 'n2', 'n3']);
  for (const name of ['n2', 'n3']) await switchNode(world, name, false);
  client = await aVolumeIn(world, { dataLocality: 'strict-local', numberOfReplicas: 1 });
  await world.run(2);
  for (const name of ['n2', 'n3']) await switchNode(world, name, true);
  await attach(world, client, 'n1');
  await client.write();
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(5);
});
afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const lifecycle = async () => (await client.view()).volume.lifecycle;
const holder = async () => {
  const nodeId = holderOf((await client.view()).volume);
  return world.nodes.find((node) => node.nodeId === nodeId)?.name;
};
const isServedOn = (name: string, seconds: number) =>
  world.runUntil(
    async () => (await lifecycle()).state === 'attached' && (await holder()) === name && !(await isMoved()),
    seconds,
  );
const isMoved = async () => isRepairing((await client.view()).volume);
const attachOn = (name?: string) => {
  const nodeId = name === undefined ? undefined : world.nodeId(name);
  return codeOf(requestAttach(world.useCases, { volumeId: client.volumeId, nodeId }));
};

describe('taken over from a dead engine while the copy is half built elsewhere', () => {
  beforeEach(async () => {
    await beginMove();
    await pauseMove();
  });

  test('it waits for the node of its full copy, whose writes it then has', async () => {
    expect(await takeOverFromTheDead()).toBe('done');
    await world.run(60);
    expect({ state: (await lifecycle()).state, holder: await holder() }).toEqual({
      state: 'attaching',
      holder: undefined,
    });
    const { attention } = (await client.view()).volume;
    expect(attention).toMatchObject({ code: 'NoNodeToAttach', cures: [expect.stringContaining('n1')] });
    world.startNode('n1');
    expect(await isServedOn('n1', 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('it is not attached where the half copy is', async () => {
    expect(await takeOverFromTheDead('n2')).toBe('volume.strict_local');
    expect(await attachOn('n3')).toBe('volume.strict_local');
    world.startNode('n1');
    await world.run(15);
    await attach(world, client, 'n1');
    expect(await isServedOn('n1', 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });
});

describe('taken over once its copy is full elsewhere, and the old one has not gone yet', () => {
  beforeEach(async () => {
    await beginMove();
    // The old copy does not go before the engine has written the record without it.
    const { command } = world.reconcilers.agents;
    world.reconcilers.agents.command = async (agent, volumeId, name, ask) => {
      if (name === 'drop-replica')
        throw new StorageFault('agent.unreachable', { publicMessage: 'no answer' });
      return command(agent, volumeId, name, ask);
    };
    const isFullOnBoth = async () => (await client.view()).replicas.filter(isHealthy).length === 2;
    expect(await world.runUntil(isFullOnBoth, 120)).toBe(true);
    await world.run(2);
    world.reconcilers.agents.command = command;
  });

  test('from a dead engine, it is served there', async () => {
    expect(await takeOverFromTheDead('n2')).toBe('done');
    expect(await isServedOn('n2', 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });

  test('from an engine that lives beside the old copy, it is let go there and served beside the new one', async () => {
    expect(await holder()).toBe('n1');
    expect(await attachOn()).toBe('done');
    expect(await lifecycle()).toMatchObject({ state: 'detaching', isForced: false });
    expect(await isServedOn('n2', 60)).toBe(true);
    expect(await client.missing()).toEqual([]);
  });
});

test('taken over from an engine that lives, on the node of the full copy, it goes on there', async () => {
  await beginMove();
  await pauseMove();
  const { epoch } = (await client.view()).volume;
  expect(await attachOn('n1')).toBe('done');
  expect(await isServedOn('n1', 5)).toBe(true);
  expect((await client.view()).volume.epoch).toBe(epoch);
  expect(await client.write()).toBe(true);
});

/** The worker has attached the volume on n1, and builds its copy on n2. */
async function beginMove(): Promise<void> {
  const { volume, replicas } = await client.view();
  const [copy] = replicas;
  if (copy === undefined) throw new Error(`volume ${volume.name} has no copy`);
  await moveReplica(world.useCases, {
    volumeId: volume.id,
    replicaId: copy.id,
    nodeId: world.nodeId('n2'),
  });
  const runs = async () => (await client.view()).rebuilds.some(({ state }) => state === 'running');
  expect(await world.runUntil(runs, 60)).toBe(true);
}

async function pauseMove(): Promise<void> {
  const { volume, rebuilds } = await client.view();
  const rebuildId = rebuilds.find(isActiveRebuild)?.id;
  if (rebuildId === undefined) throw new Error('no rebuild is active');
  await tuneRebuild(world.useCases, { volumeId: volume.id, rebuildId, paused: true });
  await world.run(3);
}

/**
 * Kills the node of the worker's engine, and lets a user attach at the very moment at which it counts as dead: the worker has not let the
 * volume go yet.
 */
async function takeOverFromTheDead(on?: string): Promise<string> {
  let answer: string | undefined;
  world.node('n1').kill();
  world.onWakeUp = async () => {
    const { volume, fleet } = await client.view();
    const isDead = fleet.nodes.some((node) => node.id === world.nodeId('n1') && !isNodeReady(node));
    if (!isDead || answer !== undefined) return;
    expect(isRepairing(volume)).toBe(true);
    answer = await attachOn(on);
  };
  await world.runUntil(async () => answer !== undefined, 30);
  world.onWakeUp = async () => undefined;
  return answer ?? 'never asked';
}
