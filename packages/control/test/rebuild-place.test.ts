/** A rebuild that ends early counts against the limits until its engine has stopped it, although calls get lost. */
import { cancelRebuild } from '@holdfast/control/use-cases/cancel-rebuild.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import type { EngineCommandName } from '@holdfast/core/model/engine-commands.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { NO_FAULTS } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import type { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';
import { aClusterOf, removeReplicaOn, runningRebuild, servedVolume, setIn } from './moving-copies.js';

let world: World;

test.each([
  { name: 'cancelled', end: cancelRunning },
  { name: 'given up by its volume', end: removeTarget },
])('a rebuild that was $name keeps its place until the engine has stopped it', async ({ end }) => {
  world = await aClusterOf(['n1', 'n2', 'n3']);
  setIn(world, 'concurrent-replica-rebuild-per-node-limit', 1);
  const a = await servedVolume(world, { name: 'a' }, 'n2');
  const b = await servedVolume(world, { name: 'b' }, 'n2');
  await removeReplicaOn(world, a, 'n1');
  await removeReplicaOn(world, b, 'n1');
  await world.runUntil(async () => (await runningRebuild(a)) !== undefined, 20);
  await world.run(0.5);
  loseNext('cancel-rebuild', 3);
  await end(a);
  for (let round = 0; round < 20; round += 1) {
    await world.run(0.5);
    expect(await checkWorld(world)).toEqual([]);
  }
  const isHealthy = async () => (await b.view()).volume.robustness === 'healthy';
  expect(await world.runUntil(isHealthy, 60)).toBe(true);
});

async function cancelRunning(client: SimClient): Promise<void> {
  const rebuild = await runningRebuild(client);
  if (rebuild === undefined) throw new Error('no rebuild runs');
  await cancelRebuild(world.useCases, { volumeId: client.volumeId, rebuildId: rebuild.id });
}

async function removeTarget(client: SimClient): Promise<void> {
  const replicaId = (await runningRebuild(client))?.targetReplicaId;
  if (replicaId === undefined) throw new Error('no rebuild runs');
  await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId });
}

/** The next calls of one kind get lost on their way. */
function loseNext(effect: EngineCommandName, count: number): void {
  let left = count;
  world.faults = {
    ...NO_FAULTS,
    onEffect: (name) => {
      if (name !== effect || left === 0) return 'none';
      left -= 1;
      return 'lost-before';
    },
  };
}
