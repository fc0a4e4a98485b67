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

test('a schedule compares detached volumes at a limited rate, and a user who asks gets the full one', async () => {
  const world = await aWorld();
  const client = await aServedVolumeIn(world);
  const { volumeId } = client;
  const verification = async () => (await client.view()).volume.verification;
  await requestDetach(world.useCases, { volumeId });
  await world.run(5);
  const { agents } = world.reconcilers;
  const limits: (number | undefined)[] = [];
  let isSlow = true;
  const slow: AgentClient = Object.assign(Object.create(agents), {
    checksumReplica: async (
      ...[agent, replicaId, id = '', limit]: [...Parameters<AgentClient['checksumReplica']>, string?, number?]
    ) => {
      limits.push(limit);
      return isSlow ? undefined : agents.checksumReplica(agent, replicaId, id);
    },
  });
  world.reconcilers = { ...world.reconcilers, agents: slow };
  const { volume } = await client.view();
  const yesterday = new Date(world.clock.now().getTime() - 24 * 3_600_000);
  const compared = { requestedAt: yesterday, finishedAt: yesterday, equal: true, replicas: [], message: '' };
  await world.store.commit({ kind: 'volume', volumeId, ifVersion: volume.version }, [
    { kind: 'volume.patch', volumeId, patch: { verification: { ...compared, state: 'done' } } },
  ]);
  await world.run(5);
  expect(await verification()).toMatchObject({ state: 'done' });
  world.store.setSetting(world.clusterId, 'volume-verification-cronjob', '@hourly');
  world.store.setSetting(world.clusterId, 'volume-verification-bandwidth-limit', 20);
  world.store.setSetting(world.clusterId, 'scheduled-volume-verification', true);
  await world.run(40);
  expect(await verification()).toMatchObject({ state: 'running', scheduled: true });
  expect(new Set(limits)).toEqual(new Set([20 * 1024 * 1024]));
  limits.length = 0;
  isSlow = false;
  await requestVerify(world.useCases, { volumeId });
  await world.run(5);
  expect(await verification()).toMatchObject({ state: 'done', equal: true, verdict: 'equal' });
  expect(new Set(limits)).toEqual(new Set([undefined]));
});
