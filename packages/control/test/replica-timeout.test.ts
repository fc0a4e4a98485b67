/** A changed `engine-replica-timeout` reaches engines that were started before. */
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

test('an engine takes over a timeout that is set while it serves, and its report says so', async () => {
  const world = await aWorld();
  const { volumeId } = await aServedVolumeIn(world);
  world.store.setSetting(world.clusterId, 'engine-replica-timeout', 21);
  await world.run(10);
  const { engine } = (await world.store.loadVolume(volumeId)) ?? {};
  expect(engine?.report.replicaTimeoutMs).toBe(21_000);
});
