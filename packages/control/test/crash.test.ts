/**
 * Kills the worker before and after every single effect of the main story, one run for each, and expects the same good
 * end: nothing acknowledged is lost, the volume is healthy, and the invariants hold.
 */
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { endpointOf } from '@holdfast/core/model/volume-lifecycle.js';
import { checkWorld } from '@holdfast/simulator/check-world.js';
import type { EffectFault } from '@holdfast/simulator/faults.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { aVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import type { World } from '@holdfast/simulator/world.js';
import { describe, expect, test } from '@jest/globals';

const RECOVERS_WITHIN_SECONDS = 120;

describe('the worker may die, or lose an answer, at any effect', () => {
  test.each<EffectFault>(['die-before', 'die-after', 'lost-before', 'lost-after'])(
    'a fault of kind %s at any of them leaves the volume well',
    async (fault) => {
      const effects = await countEffects();
      expect(effects).toBeGreaterThan(50);
      for (let at = 1; at <= effects; at += 1) {
        const world = await aWorld();
        faultAt(world, at, fault);
        const client = await tellStory(world);
        const where = `${fault} at effect ${at} of ${effects}`;
        expect({ where, isWell: await isWell(client) }).toEqual({ where, isWell: true });
        expect({ where, missing: await client.missing() }).toEqual({ where, missing: [] });
        expect({ where, findings: await checkWorld(world) }).toEqual({ where, findings: [] });
        expect(client.acknowledged.size).toBe(4);
      }
    },
  );
});

/** Lets one fault happen at the n-th effect from now on; counts the effects. */
function faultAt(world: World, wanted: number, fault: EffectFault): { effects: () => number } {
  let count = 0;
  world.faults = {
    onEffect: () => {
      count += 1;
      return count === wanted ? fault : 'none';
    },
    losesWakeUp: () => false,
    runsTwice: () => false,
  };
  return { effects: () => count };
}

async function isWell(client: SimClient): Promise<boolean> {
  const { volume, rebuilds } = await client.view();
  const isBusy = rebuilds.some(({ state }) => state === 'queued' || state === 'running');
  return volume.lifecycle.state === 'attached' && volume.robustness === 'healthy' && !isBusy;
}

/** Create, attach, write, lose a copy, get it back; lose the engine, take over elsewhere, get the old node back. */
async function tellStory(world: World): Promise<SimClient> {
  const client = await aVolumeIn(world);
  const { volumeId } = client;
  await requestAttach(world.useCases, { volumeId, nodeId: world.nodeId('node-1') });
  await world.runUntil(() => isWell(client), RECOVERS_WITHIN_SECONDS);
  await client.write();
  world.node('node-3').kill();
  await client.write();
  await world.run(12);
  world.startNode('node-3');
  await world.runUntil(() => isWell(client), RECOVERS_WITHIN_SECONDS);

  await client.write();
  world.node('node-1').kill();
  await world.run(12);
  await requestDetach(world.useCases, { volumeId, force: true });
  await requestAttach(world.useCases, { volumeId, nodeId: world.nodeId('node-2') });
  await world.runUntil(
    async () => endpointOf((await client.view()).volume) !== undefined,
    RECOVERS_WITHIN_SECONDS,
  );
  await client.write();
  world.startNode('node-1');
  await world.runUntil(() => isWell(client), RECOVERS_WITHIN_SECONDS);
  return client;
}

async function countEffects(): Promise<number> {
  const world = await aWorld();
  const counter = faultAt(world, 0, 'none');
  await tellStory(world);
  return counter.effects();
}
