/** A rebuild that can wait is paused in favour of a volume on its last copy, and goes on where it was. */
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { isActiveRebuild, type Rebuild } from '@holdfast/core/model/rebuild.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';

const FAULTS: EffectFault[] = ['none', 'die-before', 'die-after', 'lost-before', 'lost-after'];

test.each(FAULTS)('with %s now and then, both volumes end whole, by one rebuild each', async (fault) => {
  const world = await aWorld();
  world.store.setSetting(world.clusterId, 'concurrent-rebuild-per-cluster-limit', 1);
  const calm = await served(world, 'calm', 3);
  const risky = await served(world, 'risky', 2);
  // One that a user holds up stands for one that has long to go: it keeps the only place.
  const first = await rebuildBegins(world, calm);
  await tune(calm, first, true);
  await world.run(3);
  let count = 0;
  world.faults = { ...NO_FAULTS, onEffect: () => (++count % 5 === 2 ? fault : 'none') };

  await loseCopy(world, risky);
  const isWhole = async (client: SimClient) => (await client.view()).volume.robustness === 'healthy';
  const findings: string[] = [];
  const ended = await world.runUntil(async () => {
    findings.push(...(await checkWorld(world)));
    return isWhole(risky);
  }, 90);
  expect({ ended, findings, calm: (await rebuildOf(calm))?.state }).toEqual({
    ended: true,
    findings: [],
    calm: 'running',
  });

  world.faults = NO_FAULTS;
  await tune(calm, first, false);
  expect(await world.runUntil(() => isWhole(calm), 60)).toBe(true);
  expect((await calm.view()).rebuilds).toMatchObject([{ id: first.id, attempts: 1, state: 'succeeded' }]);
  const told = world.store.events.filter(({ type }) => type === 'RebuildPreempted');
  expect(told).toHaveLength(1);

  async function tune(client: SimClient, { id: rebuildId }: Rebuild, paused: boolean) {
    await tuneRebuild(world.useCases, { volumeId: client.volumeId, rebuildId, paused });
  }
});

async function served(world: World, name: string, numberOfReplicas: number): Promise<SimClient> {
  const client = await aVolumeIn(world, { name, numberOfReplicas });
  await world.run(1);
  await attach(world, client, 'node-1');
  await client.write();
  return client;
}

async function loseCopy(world: World, { volumeId }: SimClient): Promise<void> {
  const view = await world.store.loadVolume(volumeId);
  const other = view?.replicas.find(({ nodeId }) => nodeId !== world.nodeId('node-1'));
  if (other === undefined) throw new Error(`volume ${volumeId} has no copy elsewhere`);
  await requestReplicaRemoval(world.useCases, { volumeId, replicaId: other.id });
}

async function rebuildOf(client: SimClient): Promise<Rebuild | undefined> {
  return (await client.view()).rebuilds.find(isActiveRebuild);
}

async function rebuildBegins(world: World, client: SimClient): Promise<Rebuild> {
  await loseCopy(world, client);
  await world.runUntil(async () => (await rebuildOf(client))?.epoch !== undefined, 20);
  const rebuild = await rebuildOf(client);
  if (rebuild === undefined) throw new Error('no rebuild has begun');
  return rebuild;
}
