/** What an attachment and a removal are fenced by: the epoch on every copy that answers, and the version of the volume. */
import { requestAttach } from '@holdfast/control/use-cases/request-attach.js';
import { requestDetach } from '@holdfast/control/use-cases/request-detach.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { aServedVolumeIn, attach, aVolumeIn, aWorld, codeOf } from '@holdfast/simulator/test-world.js';
import { expect, test } from '@jest/globals';

test('an attach fences the failed copy of a node that is back, before anything is copied to it', async () => {
  const world = await aWorld();
  const client = await aServedVolumeIn(world);
  world.store.setSetting(world.clusterId, 'concurrent-replica-rebuild-per-node-limit', 0);
  await world.run(5);
  world.node('node-3').kill();
  await world.run(15);
  await client.write();
  await world.run(5);
  await requestDetach(world.useCases, { volumeId: client.volumeId });
  await world.run(10);
  world.startNode('node-3');
  await world.run(10);
  await attach(world, client, 'node-2');
  const { volume, replicas } = await client.view();
  const failed = replicas.find(({ nodeId }) => nodeId === world.nodeId('node-3'));
  expect(failed?.failedAt).toBeDefined();
  const copies = [...world.node('node-3').copies.values()];
  expect(copies.map(({ epoch }) => epoch)).toEqual([volume.epoch]);
});

test('of two removals at once one is refused where the other leaves the last full copy', async () => {
  const world = await aWorld();
  const client = await aVolumeIn(world, { numberOfReplicas: 2 });
  await world.run(1);
  await attach(world, client, 'node-1');
  const { replicas } = await client.view();
  const outcomes = await Promise.all(
    replicas.map(({ id: replicaId }) =>
      codeOf(requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId })),
    ),
  );
  expect(outcomes.sort()).toEqual(['done', 'replica.last_healthy_copy']);
});

test('a request that names an older version of the volume is refused', async () => {
  const world = await aWorld();
  const client = await aVolumeIn(world);
  await world.run(1);
  const { version } = (await client.view()).volume;
  const attachAt = (ifVersion: number) =>
    codeOf(requestAttach(world.useCases, { volumeId: client.volumeId, ifVersion }));
  expect(await attachAt(version - 1)).toBe('request.stale');
  expect(await attachAt(version + 1)).toBe('request.stale');
  expect(await attachAt(version)).toBe('done');
});
