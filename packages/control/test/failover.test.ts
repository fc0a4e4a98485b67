/** A volume whose policy says so is served again after its engine's node has died, and what was acknowledged is there. */
import { patchVolume } from '@holdfast/control/use-cases/patch-volume.js';
import { holderOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import { type EffectFault, NO_FAULTS } from '@holdfast/simulator/faults.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

const FAULTS: EffectFault[] = ['none', 'die-before', 'die-after', 'lost-before', 'lost-after'];

test.each(FAULTS)('with %s now and then it is served elsewhere, at a higher epoch', async (fault) => {
  const world = await aWorld();
  const client = await aServedVolumeIn(world);
  await patchVolume(world.useCases, { volumeId: client.volumeId, patch: { failoverDelay: 30 } });
  await world.run(2);
  const before = (await client.view()).volume;
  let count = 0;
  world.faults = { ...NO_FAULTS, onEffect: () => (++count % 11 === 3 ? fault : 'none') };
  world.node('node-1').kill();
  expect(await world.runUntil(() => client.write(), 120)).toBe(true);
  const { volume } = await client.view();
  expect(volume.epoch).toBeGreaterThan(before.epoch);
  expect(holderOf(volume)).not.toBe(world.nodeId('node-1'));
  expect(await client.missing()).toEqual([]);
  expect(await checkWorld(world)).toEqual([]);
  const told = world.store.events.map(({ type }) => type).filter((type) => type.startsWith('VolumeFailed'));
  expect(told).toEqual(['VolumeFailedOver']);
});

test('a node that is only away for a moment keeps its engine, and one without the policy keeps it for ever', async () => {
  const world = await aWorld();
  const own = await aServedVolumeIn(world, 'own');
  const users = await aServedVolumeIn(world, 'users');
  await patchVolume(world.useCases, { volumeId: own.volumeId, patch: { failoverDelay: 60 } });
  const node = world.node('node-1');
  node.isConnected = false;
  await world.run(40);
  expect((await own.view()).volume.attention).toMatchObject({
    code: 'HolderUnreachable',
    cures: expect.arrayContaining([expect.stringMatching(/by its policy it is attached elsewhere/)]),
  });
  node.isConnected = true;
  await world.run(100);
  expect(holderOf((await own.view()).volume)).toBe(world.nodeId('node-1'));
  node.isConnected = false;
  await world.run(120);
  expect(holderOf((await own.view()).volume)).not.toBe(world.nodeId('node-1'));
  expect(holderOf((await users.view()).volume)).toBe(world.nodeId('node-1'));
  // The cut-off engine takes nothing that the new one does not know.
  node.isConnected = true;
  await world.run(60);
  expect(await own.write()).toBe(true);
  expect(await own.missing()).toEqual([]);
});
