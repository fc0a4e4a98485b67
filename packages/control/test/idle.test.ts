/** A second run changes nothing: reconcilers that are woken for nothing leave everything as it is. */
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { attach, aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { afterEach, expect, test } from '@jest/globals';

let world: World;

afterEach(async () => {
  expect(await checkWorld(world)).toEqual([]);
});

const again = (volumeId: Parameters<typeof reconcileVolume>[1]) =>
  reconcileVolume(world.reconcilers, volumeId);

test('attached, degraded while it waits, and detached are all at rest', async () => {
  world = await aWorld();
  const client = await aVolumeIn(world);
  await world.run(1);
  await attach(world, client, 'node-1');
  await world.run(3);
  expect(await again(client.volumeId)).toEqual({ did: 'idle', steps: 0 });

  world.node('node-3').kill();
  await client.write();
  await world.run(30);
  expect((await client.view()).volume.robustness).toBe('degraded');
  expect(await again(client.volumeId)).toEqual({ did: 'idle', steps: 0 });

  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(3);
  expect(await again(client.volumeId)).toEqual({ did: 'idle', steps: 0 });
});
