/** A changed `engine-replica-timeout` reaches engines that were started before. */
import { setReplicaTimeout } from '@holdfast/control/reconcilers/attachment-steps.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

test('the engine takes over a timeout that it is told, and its report says so', async () => {
  const world = await aWorld();
  const { volumeId } = await aServedVolumeIn(world);
  const view = await world.store.loadVolume(volumeId);
  if (view === undefined) throw new Error('the volume was created');
  await setReplicaTimeout(world.reconcilers, view, { replicaTimeoutMs: 21_000 });
  await world.run(2);
  const { engine } = (await world.store.loadVolume(volumeId)) ?? {};
  expect(engine?.report.replicaTimeoutMs).toBe(21_000);
});
