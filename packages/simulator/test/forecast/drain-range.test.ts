/** A full node is drained within the time that its plan said, and no volume comes below the low-water mark. */
import { drainNode } from '@holdfast/control/use-cases/drain-node.js';
import { planNodeDrain } from '@holdfast/control/use-cases/plan-node-drain.js';
import { requestReplicaRemoval } from '@holdfast/control/use-cases/request-replica-removal.js';
import { GIB } from '@holdfast/core/model/bytes.js';
import type { SimClient } from '@holdfast/simulator/sim-client.js';
import { attach, aVolumeIn } from '@holdfast/simulator/test-world.js';
import { World } from '@holdfast/simulator/world.js';
import { expect, test } from '@jest/globals';
import { watchChange } from './watch-change.js';

const VOLUMES = 300;
const ZONES_ARE_SOFT = 'replica-zone-soft-anti-affinity';

test('draining 1 of 10 nodes with 300 copies keeps to the low-water mark and the range of its plan', async () => {
  const { world, clients } = await aClusterWithOneFullNode();
  const key = { clusterId: world.clusterId, nodeId: world.nodeId('n1') };
  const plan = await planNodeDrain(world.useCases, { ...key, policy: 'block-for-eviction' });
  expect(plan).toMatchObject({ isPossible: true, replicasToMove: VOLUMES, copiesAtLowest: 2 });

  const { lowest, bytes, seconds } = await watchChange(world, async () => {
    await drainNode(world.useCases, { ...key, policy: 'block-for-eviction' });
    const isDrained = () => world.store.tables.nodes.get(key.nodeId)?.drainStatus?.state === 'drained';
    expect(await world.runUntil(async () => isDrained(), 2 * (plan.time?.p90Seconds ?? 0))).toBe(true);
  });
  expect(Math.min(...clients.map(({ volumeId }) => lowest.get(volumeId) ?? 0))).toBe(2);
  expect(bytes).toBe(plan.bytesToMove);
  expect(plan.time?.basis).toBe('measured');
  expect(seconds).toBeGreaterThanOrEqual(plan.time?.lowSeconds ?? Number.POSITIVE_INFINITY);
  expect(seconds).toBeLessThanOrEqual(plan.time?.p90Seconds ?? 0);
});

/** Each volume has one copy on n1, which has a zone of its own, and one elsewhere; every third is detached. */
async function aClusterWithOneFullNode(): Promise<{ world: World; clients: SimClient[] }> {
  const world = new World(1);
  world.workOf = (bytes) => ({ bytes, steps: Math.ceil(bytes / 4096) });
  for (let index = 1; index <= 10; index += 1) {
    world.addNode(`n${index}`, {
      zone: index === 1 ? 'a' : 'b',
      diskBytes: Array.from({ length: 4 }, () => 100 * GIB),
    });
  }
  await world.run(2);
  world.store.setSetting(world.clusterId, ZONES_ARE_SOFT, false);
  world.store.setSetting(world.clusterId, 'concurrent-replica-rebuild-per-node-limit', 2);
  const clients: SimClient[] = [];
  for (let index = 0; index < VOLUMES; index += 1) {
    const client = await aVolumeIn(world, { name: `volume-${index}`, numberOfReplicas: 2 });
    clients.push(client);
    if (index % 3 === 0) continue;
    await attach(world, client, `n${2 + (index % 9)}`);
    for (let count = 1 + (index % 5); count > 0; count -= 1) await client.write();
  }
  await world.run(5);
  world.store.setSetting(world.clusterId, ZONES_ARE_SOFT, true);
  await measureRebuilds(world, clients);
  return { world, clients };
}

/** Copies beside those on n1 are deleted, and built again. */
async function measureRebuilds(world: World, clients: readonly SimClient[]): Promise<void> {
  for (const client of clients.slice(1, 30)) {
    const { volume, replicas } = await client.view();
    const other = replicas.find(({ nodeId }) => nodeId !== world.nodeId('n1'));
    if (volume.lifecycle.state !== 'attached' || other === undefined) continue;
    await requestReplicaRemoval(world.useCases, { volumeId: client.volumeId, replicaId: other.id });
  }
  await world.run(120);
}
