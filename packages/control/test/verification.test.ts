/** A verification is started and looked after: it holds no worker while copies are read. */
import type { AgentClient } from '@holdfast/control/ports/agent-client.js';
import { reconcileVolume } from '@holdfast/control/reconcilers/reconcile-volume.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestVerify } from '@holdfast/control/use-cases/request-verify.js';
import { StorageFault } from '@holdfast/core/model/faults.js';
import { aServedVolumeIn, aWorld } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

test('copies that take long, or do not answer for a moment, are asked again', async () => {
  const world = await aWorld();
  const client = await aServedVolumeIn(world);
  const { volumeId } = client;
  await requestDetach(world.useCases, { volumeId });
  await world.run(5);
  const { agents } = world.reconcilers;
  const asked: (string | undefined)[] = [];
  const slow: AgentClient = Object.assign(Object.create(agents), {
    checksumReplica: async (
      ...[agent, replicaId, verification = '']: [...Parameters<AgentClient['checksumReplica']>, string?]
    ) => {
      asked.push(verification);
      if (asked.length === 2) throw new StorageFault('agent.unreachable', { publicMessage: 'no answer' });
      return asked.length > 6 ? agents.checksumReplica(agent, replicaId, verification) : undefined;
    },
  });
  world.reconcilers = { ...world.reconcilers, agents: slow };
  await requestVerify(world.useCases, { volumeId });
  expect(await reconcileVolume(world.reconcilers, volumeId)).toMatchObject({
    did: 'waiting',
    reason: 'verify',
  });
  expect((await client.view()).volume.verification).toMatchObject({ state: 'running' });
  await world.run(10);
  expect((await client.view()).volume.verification).toMatchObject({ state: 'done', equal: true });
  // One verification: agents that know it begin nothing anew.
  expect(new Set(asked).size).toBe(1);
});
