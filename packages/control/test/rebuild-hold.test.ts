/** A detached volume in a state during which its copies are not rebuilt; `rebuild-waiting.test.ts` has the attached ones. */
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import type { RebuildHold } from '@holdfast/core/model/volume.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';

/** As an import, or what migrates, restores or follows, does it. */
async function hold(world: World, { volumeId }: SimClient, rebuildHold: RebuildHold | undefined) {
  const view = await world.store.loadVolume(volumeId);
  if (view === undefined) throw new Error('the volume is gone');
  await world.store.commit({ kind: 'volume', volumeId, ifVersion: view.volume.version }, [
    { kind: 'volume.patch', volumeId, patch: { rebuildHold } },
  ]);
}

async function aDegradedVolume(rebuildHold: RebuildHold): Promise<{ world: World; client: SimClient }> {
  const world = await aWorld(1, ['zone-a', 'zone-b', 'zone-c', 'zone-d']);
  const client = await aVolumeIn(world);
  await attach(world, client, 'node-1');
  world.store.setSetting(world.clusterId, 'replica-replenishment-wait-interval', 0);
  await hold(world, client, rebuildHold);
  const { replicas } = await client.view();
  const lost = world.nodes.find(
    ({ name, nodeId }) => name !== 'node-1' && replicas.some((replica) => replica.nodeId === nodeId),
  );
  lost?.kill();
  await world.run(60);
  return { world, client };
}

test('detached it is not attached for a rebuild that could not run', async () => {
  const { world, client } = await aDegradedVolume('standby');
  world.store.setSetting(world.clusterId, 'offline-replica-rebuilding', true);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(120);
  expect(await client.view()).toMatchObject({ volume: { lifecycle: { state: 'detached' } } });
  await hold(world, client, undefined);
  const isHealthy = async () => (await client.view()).volume.robustness === 'healthy';
  expect(await world.runUntil(isHealthy, 300)).toBe(true);
});
