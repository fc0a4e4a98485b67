/** Drains on clusters by chance, each compared with its plan. */
import { drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { planNodeDrain } from '@holdfast/control/use-cases/plan-node-drain.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import type { DrainPlan, DrainPlanVolume } from '@holdfast/core/drain/plan-drain.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { isNodeReady } from '@holdfast/core/model/node.js';
import { DRAIN_POLICIES, type DrainPolicy } from '@holdfast/core/model/node-drain.js';
import { isHealthy } from '@holdfast/core/model/replica.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { expect } from '@jest/globals';

/** Long enough for the moves of such a cluster, a rest after one that came to nothing included. */
const DRAIN_SECONDS = 2000;

/** Drains a node by chance of a cluster by chance, under a policy by chance. */
export async function drainByChance(seed: number): Promise<void> {
  const { world, clients } = await aClusterByChance(seed);
  const policy = world.random.pick(DRAIN_POLICIES) ?? 'always-allow';
  const name = world.random.pick(world.nodes.filter(({ isAlive }) => isAlive))?.name ?? 'n1';
  await comesTrue(world, clients, name, policy);
}

/** Drains the node, watches every volume all the while, switches the node off, and compares with the plan. */
export async function comesTrue(
  world: World,
  clients: readonly SimClient[],
  name: string,
  policy: DrainPolicy,
): Promise<DrainPlan> {
  const key = { clusterId: world.clusterId, nodeId: world.nodeId(name), policy };
  const plan = await planNodeDrain(world.useCases, key);
  const lowest = new Map<string, number>();
  const watch = async () => {
    for (const client of clients) {
      const count = await readyCopies(client);
      lowest.set(client.volumeId, Math.min(lowest.get(client.volumeId) ?? count, count));
    }
  };
  await watch();
  await drainNode(world.useCases, key);
  const isOver = await world.runUntil(async () => {
    await watch();
    return (await statusOf(world, name))?.state === 'drained';
  }, DRAIN_SECONDS);
  const status = await statusOf(world, name);
  expect({
    isOver,
    waits: status?.waitingFor.map(({ message }) => message).slice(0, isOver ? 0 : 3),
  }).toEqual({
    isOver: plan.isPossible,
    waits: isOver ? [] : expect.any(Array),
  });
  if (isOver) {
    expect(status?.progress).toMatchObject({ bytesMoved: plan.bytesToMove, bytesToMove: plan.bytesToMove });
    await world.run(20);
  } else {
    expect(status?.state).toBe('blocked');
  }
  for (const planned of plan.volumes) await becameOf(world, planned, key.nodeId);
  if (isOver) {
    world.node(name).kill();
    await world.run(20);
    await watch();
  }
  for (const { volumeId, copiesAtLowest } of plan.volumes) {
    expect(lowest.get(volumeId)).toBeGreaterThanOrEqual(copiesAtLowest);
  }
  expect(await checkWorld(world)).toEqual([]);
  return plan;
}

async function becameOf(world: World, planned: DrainPlanVolume, nodeId: string): Promise<void> {
  const view = await world.store.loadVolume(planned.volumeId);
  const isThere = view?.replicas.some((replica) => replica.nodeId === nodeId) === true;
  const { outcome } = planned;
  expect({ outcome, isThere }).toEqual({ outcome, isThere: outcome !== 'moves' && outcome !== 'none' });
}

async function statusOf(world: World, name: string) {
  const { nodes } = await world.store.loadFleet(world.clusterId);
  return nodes.find((node) => node.name === name)?.drainStatus;
}

async function readyCopies(client: SimClient): Promise<number> {
  const { replicas, fleet } = await client.view();
  const ready = new Set(fleet.nodes.filter(isNodeReady).map(({ id }) => id));
  return replicas.filter(
    (replica) => isHealthy(replica) && replica.nodeId !== undefined && ready.has(replica.nodeId),
  ).length;
}

/** All attached but every third one, and written. */
export async function aCluster(seed: number, nodes: number, volumes: number) {
  const world = new World(seed);
  for (let index = 1; index <= nodes; index += 1) {
    world.addNode(`n${index}`, { zone: `z${index % 3}`, diskBytes: [100 * GIB, 100 * GIB] });
  }
  await world.run(2);
  const clients: SimClient[] = [];
  for (let index = 0; index < volumes; index += 1) {
    clients.push(await aVolumeIn(world, { name: `volume-${index}`, numberOfReplicas: 2 }));
  }
  await world.run(2);
  for (const [index, client] of clients.entries()) await use(world, client, 'n1', index % 3 !== 0);
  return { world, clients };
}

/** Attaches, writes, and detaches again unless it stays attached. */
async function use(world: World, client: SimClient, nodeName: string, stays: boolean): Promise<void> {
  await attach(world, client, nodeName);
  for (let count = 1 + world.random.below(4); count > 0; count -= 1) await client.write();
  await world.run(1);
  if (stays) return;
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(2);
}

async function aClusterByChance(seed: number) {
  const world = new World(seed);
  const { random } = world;
  const nodes = 3 + random.below(5);
  for (let index = 1; index <= nodes; index += 1) {
    const diskBytes = Array.from({ length: 1 + random.below(2) }, () => (4 + random.below(20)) * GIB);
    world.addNode(`n${index}`, { zone: `z${random.below(3)}`, diskBytes });
  }
  await world.run(2);
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 120);
  const clients: SimClient[] = [];
  for (let index = 0; index < 4 + random.below(8); index += 1) {
    const numberOfReplicas = 1 + random.below(3);
    const client = await aVolumeIn(world, { name: `volume-${index}`, numberOfReplicas });
    await world.run(2);
    const { name = 'n1' } = random.pick(world.nodes) ?? {};
    await use(world, client, name, random.chance(0.6));
    clients.push(client);
  }
  if (random.chance(0.3)) {
    random.pick(world.nodes)?.kill();
    for (const client of clients) await client.write();
    await world.run(30);
  }
  return { world, clients };
}
