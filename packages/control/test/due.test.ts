/** What wakes a volume that is healthy and attached: changes of where its replicas are, of settings, and time alone. */
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import { patchDisk } from '@holdfast/control/use-cases/patch-disk.js';
import { patchNode } from '@holdfast/control/use-cases/patch-node.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { afterEach, expect, test } from '@jest/globals';

const EMPTIED = { allowScheduling: false, evictionRequested: true };

let world: World;
let client: SimClient;

async function aHealthyVolume(nodes: number): Promise<void> {
  world = new World();
  for (let index = 1; index <= nodes; index += 1) world.addNode(`n${index}`, { diskBytes: [100 * GIB] });
  await world.run(2);
  client = await aVolumeIn(world, { numberOfReplicas: 2 });
  await world.run(1);
  await attach(world, client);
  await world.run(30);
  const { volume, due } = await load();
  expect([volume.robustness, due.at]).toEqual(['healthy', undefined]);
}

async function load() {
  const view = await world.store.loadVolume(client.volumeId);
  if (view === undefined) throw new Error('the volume is gone');
  return view;
}

const nodeIds = async () => (await load()).replicas.map(({ nodeId }) => nodeId).sort();

/** A node that holds a replica, and does not serve the volume. */
async function aReplicaToMove() {
  const { volume, replicas } = await load();
  const replica = replicas.find(({ nodeId }) => nodeId !== holderOf(volume));
  if (replica?.nodeId === undefined || replica.diskId === undefined) throw new Error('no such replica');
  return { nodeId: replica.nodeId, diskId: replica.diskId };
}

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

test('a healthy attached volume leaves a node that is being emptied', async () => {
  await aHealthyVolume(3);
  const { nodeId } = await aReplicaToMove();
  await patchNode(world.useCases, { clusterId: world.clusterId, nodeId, patch: EMPTIED });
  expect(await world.runUntil(async () => !(await nodeIds()).includes(nodeId), 120)).toBe(true);
  expect((await load()).volume.robustness).toBe('healthy');
});

test('a healthy attached volume leaves a disk that is being emptied, although its wake-ups are lost', async () => {
  await aHealthyVolume(3);
  const { nodeId, diskId } = await aReplicaToMove();
  world.faults = { ...NO_FAULTS, losesWakeUp: () => true };
  await patchDisk(world.useCases, { clusterId: world.clusterId, diskId, patch: EMPTIED });
  expect(await world.runUntil(async () => !(await nodeIds()).includes(nodeId), 300)).toBe(true);
  world.faults = NO_FAULTS;
  await world.run(10);
});

test('an old failed replica of a healthy volume is removed when stale-replica-timeout is over, and not before', async () => {
  await aHealthyVolume(3);
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 0);
  const { nodeId } = await aReplicaToMove();
  world.nodes.find((node) => node.nodeId === nodeId)?.kill();
  await client.write();
  const failed = async () => (await load()).replicas.find(({ failedAt }) => failedAt !== undefined);
  expect(await world.runUntil(async () => (await load()).volume.robustness === 'degraded', 60)).toBe(true);
  expect(await world.runUntil(async () => (await load()).volume.robustness === 'healthy', 120)).toBe(true);
  world.store.setSetting(world.clusterId, 'stale-replica-timeout', 30);
  await world.run(30);
  const failedAt = (await failed())?.failedAt;
  if (failedAt === undefined) throw new Error('the failed replica is gone too early');
  const staleAtMs = failedAt.getTime() + 30 * 60_000;
  expect((await load()).due.at).toEqual(new Date(staleAtMs));

  await world.run((staleAtMs - world.clock.now().getTime()) / 1000 - 1);
  expect(await failed()).toBeDefined();
  await world.run(10);
  expect(await failed()).toBeUndefined();
});

test('a setting reaches a healthy volume that nothing else wakes', async () => {
  await aHealthyVolume(3);
  const { marks } = (await load()).due;
  world.store.setSetting(world.clusterId, 'snapshot-count-warning-threshold', 2);
  await world.run(10);
  const { due } = await load();
  expect(due.marks).toBeGreaterThan(marks);
  expect(due.at).toBeUndefined();
});

test('a volume whose agent refuses stays due, also when nothing had marked it', async () => {
  await aHealthyVolume(3);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  const { due } = await load();
  await world.store.recordDue(client.volumeId, { at: undefined, ifMarks: due.marks });
  world.faults = { ...NO_FAULTS, onEffect: (name) => (name === 'stopEngine' ? 'lost-before' : 'none') };
  const outcome = await reconcileVolume(world.reconcilers, client.volumeId);
  expect(outcome.did).toBe('waiting');
  expect((await load()).due.at).toEqual(world.clock.now());
  world.faults = NO_FAULTS;
  world.store.takeWakeUps();
  expect(await world.runUntil(async () => (await load()).volume.lifecycle.state === 'detached', 10)).toBe(
    true,
  );
});
