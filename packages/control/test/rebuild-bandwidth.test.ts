/** A node's bandwidth is shared by the rebuilds to it, and engines are told of each change at once. */
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { tuneRebuild } from '@holdfast/control/use-cases/tune-rebuild.js';
import { MIB } from '@holdfast/core/model/bytes.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import type { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';
import { aClusterOf, removeReplicaOn, runningRebuild, servedVolume, setIn } from './moving-copies.js';

let world: World;

test("a node's bandwidth is shared by its rebuilds, and told to engines when it changes", async () => {
  world = await aClusterOf(['n1', 'n2', 'n3']);
  setIn(world, 'replica-rebuilding-bandwidth-limit', 40);
  const a = await servedVolume(world, { name: 'a' }, 'n2');
  const b = await servedVolume(world, { name: 'b' }, 'n2');
  await rebuildPaused(a);
  expect((await runningRebuild(a))?.grantedBytesPerSecond).toBe(40 * MIB);
  await rebuildPaused(b);
  await tune(a, { paused: false });
  await tune(b, { paused: false, bandwidthBytesPerSecond: 10 * MIB });
  await world.run(0.5);
  expect([await told(a), await told(b)]).toEqual([20 * MIB, 10 * MIB]);
  await limit(a, 30);
  // Well before a sweep: the change itself has the running rebuild told.
  await world.run(0.5);
  expect([await told(a), await told(b)]).toEqual([30 * MIB, 10 * MIB]);
  await limit(a, 0);
  await world.run(0.5);
  expect(await told(a)).toBe(20 * MIB);
  expect([await becomesHealthy(a), await becomesHealthy(b)]).toEqual([true, true]);
  expect(await checkWorld(world)).toEqual([]);
});

async function rebuildPaused(client: SimClient): Promise<void> {
  await removeReplicaOn(world, client, 'n1');
  await world.runUntil(async () => (await runningRebuild(client)) !== undefined, 20);
  await tune(client, { paused: true });
}

async function tune(
  client: SimClient,
  input: { paused?: boolean; bandwidthBytesPerSecond?: number | null },
): Promise<void> {
  const rebuildId = (await runningRebuild(client))?.id;
  if (rebuildId === undefined) throw new Error('no rebuild runs');
  await tuneRebuild(world.useCases, { volumeId: client.volumeId, rebuildId, ...input });
}

/** What its engine was told last. */
async function told(client: SimClient): Promise<number | null | undefined> {
  return (await runningRebuild(client))?.tuned?.bandwidthBytesPerSecond;
}

async function limit({ volumeId }: SimClient, replicaRebuildingBandwidthLimit: number): Promise<void> {
  await patchVolume(world.useCases, { volumeId, patch: { replicaRebuildingBandwidthLimit } });
}

function becomesHealthy(client: SimClient): Promise<boolean> {
  return world.runUntil(async () => (await client.view()).volume.robustness === 'healthy', 60);
}
